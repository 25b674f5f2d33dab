/* Preloaded by tests of `elc`: somebody sets the clock of the machine forward or back by the seconds that stand in the
   file ELC_TEST_CLOCK, once that is there; and the other clock, which nobody can set, runs ELC_TEST_SPEED times as fast.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long shift(void) {
  const char *path = getenv("ELC_TEST_CLOCK");
  long seconds = 0;
  FILE *file = path != NULL ? fopen(path, "r") : NULL;
  if (file == NULL) return 0;
  if (fscanf(file, "%ld", &seconds) != 1) seconds = 0;
  fclose(file);
  return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  static struct timespec first;
  const char *speed = getenv("ELC_TEST_SPEED");
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
  if (real(clock, time) != 0) return -1;
  if (clock == CLOCK_REALTIME) time->tv_sec += shift();
  if (clock != CLOCK_MONOTONIC || speed == NULL) return 0;
  if (first.tv_sec == 0) first = *time;
  double passed = (double)(time->tv_sec - first.tv_sec) + 1e-9 * (double)(time->tv_nsec - first.tv_nsec);
  passed = passed * atof(speed) + 1e-9 * (double)first.tv_nsec;
  time->tv_sec = first.tv_sec + (time_t)passed;
  time->tv_nsec = (long)(1e9 * (passed - (double)(time_t)passed));
  return 0;
}

time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}

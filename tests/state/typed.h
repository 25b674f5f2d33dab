/* Between typed.c and its tests. Each returns the number of errors, or of variables that have the value. */
#ifdef __cplusplus
extern "C" {
#endif
#ifdef __cplusplus
#define TYPED_OF(standard)             \
  int typed_register_##standard(void); \
  int typed_types_##standard(void);    \
  int typed_touch_##standard(int value, int set); \
  double ***typed_rows_##standard(int make);
TYPED_OF(c11)
TYPED_OF(c99)
TYPED_OF(gnu89)
#else /* each standard has its own names for these */
int typed_register(void);
int typed_types(void);
int typed_touch(int value, int set);
double ***typed_rows(int make); /* registers a pointer to rows, which it makes perhaps: two of three numbers */
#endif
int classic_run(void (*site)(void)); /* `site` is called with everything registered */
#ifdef __cplusplus
}
#endif

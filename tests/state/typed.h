/* Between typed.c and its tests. Each returns the number of errors, or of variables that have the value. */
#ifdef __cplusplus
extern "C" {
#endif
int typed_register(void);
int typed_types(void);
int typed_touch(int value, int set);
int classic_run(void (*site)(void)); /* `site` is called with everything registered */
#ifdef __cplusplus
}
#endif

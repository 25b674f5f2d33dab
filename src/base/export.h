// What the archive gives to the program's linker; everything else in it is hidden (-fvisibility=hidden).
#ifndef ELC_BASE_EXPORT_H
#define ELC_BASE_EXPORT_H

#define ELC_EXPORT __attribute__((visibility("default")))

#endif

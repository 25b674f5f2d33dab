// What most files of this folder read of clang, compiled once.
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclOpenMP.h"
#include "clang/Frontend/ASTUnit.h"

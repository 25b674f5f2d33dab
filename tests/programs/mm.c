/* The example program of appendix A of the libELC thesis (P. Zhao, 2005): matrix multiplication by a master and
 * its workers, written against libELC.h. At least two processes. As printed there, but for the slips that no
 * compiler takes or that cannot be meant:
 *
 *  - main has the type int, and returns a value;
 *  - OnVarDef(&mbyte, ...) is OnVarDef(&mtype, ...): there is no variable mbyte.
 *
 * Added, and marked: SIZE may be given by the compiler (-DSIZE=200), and with -DMM_DIGEST the master prints a digest
 * of the result. */

/****** FILE: mm.c *****/
/* DESCRIPTION:
 * In this template code, the master task distributes a matrix multiply
 * operation to numtasks-1 worker tasks.
 * NOTE1: C and Fortran versions of this code differ because of the way
 * arrays are stored/passed. C arrays are row-major order but Fortran
 * arrays are column-major order.
 * AUTHOR for MPL version: Ros Leibensperger / Blaise Barney
 * LAST MPL REVISED: 09/14/93 for latest API changes. Blaise Barney
 * CONVERTED TO MPI: 11/12/94 by Xianneng Shen
 *****/

#include <stdio.h>
#include <mpi.h>
#include <libELC.h>

#ifndef SIZE /* added: the condition */
#define SIZE 1024
#endif
#define NRA SIZE      /* number of rows in matrix A */
#define NCA SIZE      /* number of columns in matrix A */
#define NCB SIZE      /* number of columns in matrix B */
#define MASTER 0      /* taskid of first task */
#define FROM_MASTER 1 /* setting a message type */
#define FROM_WORKER 2 /* setting a message type */

int main(int argc, char **argv)
{
/***** Program Variable Definition *****/
    int numtasks,      /* number of tasks in partition */
        taskid,        /* a task identifier */
        numworkers,    /* number of worker tasks */
        source,        /* task id of message source */
        dest,          /* task id of message destination */
        nbytes,        /* number of bytes in message */
        mtype,         /* message type */
        intsize,       /* size of an integer in bytes */
        dbsize,        /* size of a double float in bytes */
        rows,          /* rows of matrix A sent to each worker */
        averow,
        extra,
        offset,        /* determine rows sent to each worker */
        i, j, k,       /* misc */
        count;

    double *a,         /* matrix A to be multiplied */
           *b,         /* matrix B to be multiplied */
           *c;         /* result matrix C */
    MPI_Status status;

/***** Records Execution Flow in the Flow Table *****/
    OnCallEnter(0,0);  // this is the main() function;

/***** Records Variables in Shadow Stack *****/
    OnVarDef(&numtasks,sizeof(int));
    OnVarDef(&taskid,sizeof(int));
    OnVarDef(&numworkers,sizeof(int));
    OnVarDef(&source,sizeof(int));
    OnVarDef(&dest,sizeof(int));
    OnVarDef(&nbytes,sizeof(int));
    OnVarDef(&mtype,sizeof(int));
    OnVarDef(&intsize,sizeof(int));
    OnVarDef(&dbsize,sizeof(int));
    OnVarDef(&rows,sizeof(int));
    OnVarDef(&averow,sizeof(int));
    OnVarDef(&extra,sizeof(int));
    OnVarDef(&offset,sizeof(int));
    OnVarDef(&i,sizeof(int));
    OnVarDef(&j,sizeof(int));
    OnVarDef(&k,sizeof(int));
    OnVarDef(&count,sizeof(int));

    OnPtrDef(&a,1);
    OnPtrDef(&b,1);
    OnPtrDef(&c,1);

    OnVarDef(&status,sizeof(MPI_Status));

/***** Execution Jump in the Recovery*****/
    if (STATE_FLAG==ELC_RECOVERY)
    {
        ELC_MPI_Init(&argc, &argv);    // re-init MPI runtime environment
        switch (g_flowTail->LABEL)
        {
            case (-1):        goto K1;
            case (-2):        goto K2;
            case (-3):        goto K3;
            case (-4):        goto K4;
            case (-5):        goto K5;
            case (-6):        goto K6;
            case (-7):        goto K7;
            case (-8):        goto K8;
            case (-9):        goto K9;
            case (-10):       goto K10;
            case (-11):       goto K11;
            case (-12):       goto K12;
            case (-13):       goto K13;
            case (-14):       goto K14;
            case (-15):       goto K15;
        }
    }

/***** Execution Statement *****/
    intsize = sizeof(int);
    dbsize = sizeof(double);

    ELC_MPI_Init(&argc, &argv); // wrapper MPI_Init()

    // Record the Heap Allocation
    a=ELC_malloc(NRA*NCA*sizeof(double));
    b=ELC_malloc(NCA*NCB*sizeof(double));
    c=ELC_malloc(NRA*NCB*sizeof(double));

    MPI_Comm_rank(MPI_COMM_WORLD, &taskid);
    MPI_Comm_size(MPI_COMM_WORLD, &numtasks);
    numworkers = numtasks-1;

/***** Master Task *****/
    if (taskid == MASTER) {
        for (i=0; i<NRA; i++)
            for (j=0; j<NCA; j++)
                *(a+i*SIZE+j)= i+j;
        for (i=0; i<NCA; i++)
            for (j=0; j<NCB; j++)
                *(b+i*SIZE+j)= i*j;

        /* send matrix data to the worker tasks */
        averow = NRA/numworkers;
        extra = NRA%numworkers;
        offset = 0;
        mtype = FROM_MASTER;
        for (dest=1; dest<=numworkers; dest++) {
            rows = (dest <= extra) ? averow+1 : averow;
K1:         ELC_MPI_Send(&offset, 1, MPI_INT, dest,
                         mtype, MPI_COMM_WORLD,-1,0);
K2:         ELC_MPI_Send(&rows, 1, MPI_INT, dest,
                         mtype, MPI_COMM_WORLD,-2,0);
            count = rows*NCA;

K3:         ELC_MPI_Send(a+offset*SIZE+0, count, MPI_DOUBLE, dest,
                         mtype, MPI_COMM_WORLD,-3,0);
            count = NCA*NCB;
K4:         ELC_MPI_Send(b, count, MPI_DOUBLE, dest,
                         mtype, MPI_COMM_WORLD,-4,0);

            offset = offset + rows;
        }

K5:     ELC_DoCKPT(-5,0);

        /* wait for results from all worker tasks */
        mtype = FROM_WORKER;
        for (i=1; i<=numworkers; i++) {
            source = i;
K6:         ELC_MPI_Recv(&offset, 1, MPI_INT, source,
                         mtype, MPI_COMM_WORLD, &status,-6,0);
K7:         ELC_MPI_Recv(&rows, 1, MPI_INT, source,
                         mtype, MPI_COMM_WORLD, &status,-7,0);
            count = rows*NCB;
K8:         ELC_MPI_Recv(c+offset*SIZE+0, count, MPI_DOUBLE, source,
                         mtype, MPI_COMM_WORLD, &status,-8,0);
        }
    } /* end of master section */

/***** Worker Task *****/
    if (taskid > MASTER) {
        mtype = FROM_MASTER;
        source = MASTER;
K9:     ELC_MPI_Recv(&offset, 1, MPI_INT, source,
                     mtype, MPI_COMM_WORLD, &status,-9,0);
K10:    ELC_MPI_Recv(&rows, 1, MPI_INT, source,
                     mtype, MPI_COMM_WORLD, &status,-10,0);
        count = rows*NCA;
K11:    ELC_MPI_Recv(a, count, MPI_DOUBLE, source,
                     mtype, MPI_COMM_WORLD, &status,-11,0);
        count = NCA*NCB;
K12:    ELC_MPI_Recv(b, count, MPI_DOUBLE, source,
                     mtype, MPI_COMM_WORLD, &status,-12,0);

        for (k=0; k<NCB; k++)
            for (i=0; i<rows; i++) {
                *(c+i*SIZE+k) = 0.0;
                for (j=0; j<NCA; j++)
                    *(c+i*SIZE+k) = *(c+i*SIZE+k) +
                                    *(a+i*SIZE+j) *
                                    *(b+j*SIZE+k);
            }

        mtype = FROM_WORKER;

K13:    ELC_MPI_Send(&offset, 1, MPI_INT, MASTER,
                     mtype, MPI_COMM_WORLD,-13,0);
K14:    ELC_MPI_Send(&rows, 1, MPI_INT, MASTER,
                     mtype, MPI_COMM_WORLD,-14,0);
K15:    ELC_MPI_Send(c, rows*NCB, MPI_DOUBLE, MASTER,
                     mtype, MPI_COMM_WORLD,-15,0);
    } /* end of worker */

#ifdef MM_DIGEST /* added: FNV-1a of the result */
    if (taskid == MASTER) {
        uint64_t digest = 14695981039346656037u;
        const unsigned char *at = (const unsigned char *)c, *end = (const unsigned char *)(c + (size_t)NRA*NCB);
        while (at < end) digest = (digest ^ *at++) * 1099511628211u;
        printf("result: %016llx\n", (unsigned long long)digest);
    }
#endif

    ELC_MPI_Finalize();
    OnCallReturn(); // the end of main() function
    return 0;
} /* of main */

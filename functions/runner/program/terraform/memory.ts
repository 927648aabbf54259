const mebibyte = 2 ** 20;

/** With less memory, a run that just fits into its container must not use more. */
const enoughBytes = 4096 * mebibyte;
const isAmple = (availableBytes: number): boolean => availableBytes >= enoughBytes;
const growthPercent = 400;
/** Part of the memory that one process uses before it collects garbage more often. */
const part = 1 / 3;

/**
 * Environment of Go programs, such as Terraform and its providers (https://pkg.go.dev/runtime: GOGC, GOMEMLIMIT). By
 * default they collect garbage when their memory has doubled, which takes a quarter of Terraform's processor time. If
 * enough memory is available, they wait until it has grown fivefold.
 * @param availableBytes memory that this machine or container can still use
 */
export const garbageCollection = (availableBytes: number): Record<string, string> =>
  !isAmple(availableBytes)
    ? {}
    : { GOGC: String(growthPercent), GOMEMLIMIT: `${Math.floor((availableBytes * part) / mebibyte)}MiB` };

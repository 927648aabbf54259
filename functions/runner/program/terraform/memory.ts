const mebibyte = 2 ** 20;

/** With less, a run that just fits into its container must not need more. */
const enoughBytes = 4096 * mebibyte;
const isAmple = (availableBytes: number): boolean => availableBytes >= enoughBytes;
const growthPercent = 400;
/** Part of the memory that one process uses before it collects garbage more often. */
const part = 1 / 3;

/**
 * Environment of Go programs, which Terraform and its providers are (https://pkg.go.dev/runtime: GOGC, GOMEMLIMIT). They
 * collect garbage when their memory has doubled, which takes a quarter of Terraform's processor time. Where there is
 * memory, they wait until it is five times as much.
 * @param availableBytes what this machine or container can still use
 */
export const garbageCollection = (availableBytes: number): Record<string, string> =>
  !isAmple(availableBytes)
    ? {}
    : { GOGC: String(growthPercent), GOMEMLIMIT: `${Math.floor((availableBytes * part) / mebibyte)}MiB` };

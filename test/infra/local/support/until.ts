/** Waits for a condition; throws its description if it does not hold within the time limit. */
export const until = async <T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  ms = 120_000,
): Promise<T> => {
  const deadline = Date.now() + ms;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`${what}: not within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

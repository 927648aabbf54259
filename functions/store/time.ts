/** The present, as records keep it. */
export const now = (): string => new Date().toISOString();

/**
 * Format of the stored data, on AWS and on one machine. Increase it with each change that makes an earlier version misread
 * the data, or this version earlier data.
 */
export const dataFormat = 6;

/** The output of both stacks with it. */
export const dataFormatOutput = 'DataFormat';

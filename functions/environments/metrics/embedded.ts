/**
 * CloudWatch metrics of builds in the Embedded Metric Format: CloudWatch extracts them from lines of the function's
 * log. Idle environments write nothing.
 */

const namespace = 'Stepform/Environments';

interface Metric {
  name: string;
  unit: 'Count' | 'Seconds';
  value: number;
  /** Labels that identify a metric: CloudWatch bills each combination of values as one. */
  dimensions: string[];
}

/** @param labels labels of the line, all available in Logs Insights */
export const emit = (metrics: Metric[], labels: Record<string, string>): void => {
  const line = {
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: metrics.map(({ name, unit, dimensions }) => ({
        Namespace: namespace,
        Dimensions: [dimensions],
        Metrics: [{ Name: name, Unit: unit }],
      })),
    },
    ...labels,
    ...Object.fromEntries(metrics.map(({ name, value }) => [name, value])),
  };
  // Lambda wraps the output of console.log, in which CloudWatch finds no metrics.
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

/**
 * Builds as CloudWatch metrics, in the Embedded Metric Format: a line of the function's own log, of which CloudWatch makes
 * the metrics by itself. Nothing is written for who builds nothing.
 */

const namespace = 'Stepform/Environments';

interface Metric {
  name: string;
  unit: 'Count' | 'Seconds';
  value: number;
  /** Labels by which CloudWatch tells series apart: each combination of values is a metric of its own, and costs. */
  dimensions: string[];
}

/** @param labels all of them are in the line, for Logs Insights */
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
  // Not by the console: Lambda puts what that writes into a line of its own, where CloudWatch finds no metrics.
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

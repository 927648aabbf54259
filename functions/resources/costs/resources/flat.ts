import type { Pricer } from './pricer.ts';

/** Resources with a fixed monthly price (KMS, Secrets Manager, Route 53, CloudWatch pricing). */

const monthly =
  (item: string, assumption: string): Pricer =>
  (_values, bill) => {
    bill.monthly(item);
    bill.assume(assumption);
  };

export const flat: Record<string, Pricer> = {
  aws_kms_key: monthly('kms/key', 'no requests'),
  aws_secretsmanager_secret: monthly('secretsmanager/secret', 'no requests'),
  aws_route53_zone: monthly('route53/zone', 'no queries'),
  aws_cloudwatch_metric_alarm: monthly('cloudwatch/alarm', 'one metric at standard resolution'),
  aws_cloudwatch_dashboard: monthly('cloudwatch/dashboard', 'beyond the free ones of an account'),
};

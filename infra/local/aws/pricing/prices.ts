/**
 * AWS list prices, us-east-1, USD, without free tiers, as published in June 2026 (aws.amazon.com/<service>/pricing).
 * DynamoDB's are those since its cut of November 2024.
 */
export const prices = {
  asOf: '2026-06',
  region: 'us-east-1',
  /** Standard workflows, per state transition. */
  transition: 0.025 / 1_000,
  /** On-demand request units. */
  readUnit: 0.125 / 1_000_000,
  writeUnit: 0.625 / 1_000_000,
  /** arm64. */
  lambdaRequest: 0.2 / 1_000_000,
  lambdaGbSecond: 0.0000133334,
  /** HTTP API, first 300 million; metered in 512 KB steps. */
  apiRequest: 1 / 1_000_000,
  s3Put: 0.005 / 1_000,
  s3Get: 0.0004 / 1_000,
  kmsRequest: 0.03 / 10_000,
  /** Linux on arm64; at least one minute per task. */
  fargateVcpuHour: 0.03238,
  fargateGbHour: 0.00356,
} as const;

/** Usage in AWS's billing units. */
export interface Billable {
  transitions: number;
  readUnits: number;
  writeUnits: number;
  lambdaRequests: number;
  lambdaGbSeconds: number;
  apiRequests: number;
  s3Puts: number;
  s3Gets: number;
  kmsRequests: number;
  fargateVcpuHours: number;
  fargateGbHours: number;
}

export interface Price {
  usd: number;
  usdWithoutFargate: number;
  /** USD by service. */
  byService: Record<'states' | 'dynamodb' | 'lambda' | 'apigateway' | 's3' | 'kms' | 'fargate', number>;
  asOf: string;
  region: string;
}

export const priceOf = (used: Billable): Price => {
  const byService = {
    states: used.transitions * prices.transition,
    dynamodb: used.readUnits * prices.readUnit + used.writeUnits * prices.writeUnit,
    lambda: used.lambdaRequests * prices.lambdaRequest + used.lambdaGbSeconds * prices.lambdaGbSecond,
    apigateway: used.apiRequests * prices.apiRequest,
    s3: used.s3Puts * prices.s3Put + used.s3Gets * prices.s3Get,
    kms: used.kmsRequests * prices.kmsRequest,
    fargate: used.fargateVcpuHours * prices.fargateVcpuHour + used.fargateGbHours * prices.fargateGbHour,
  };
  const usd = Object.values(byService).reduce((sum, amount) => sum + amount, 0);
  return { usd, usdWithoutFargate: usd - byService.fargate, byService, asOf: prices.asOf, region: prices.region };
};

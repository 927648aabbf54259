import type { Pricer } from './pricer.ts';

/** Services billed by usage, with a stated assumption about the usage (Lambda pricing, S3 pricing). */

/** Assumed usage per month. Free tiers apply per account and are left out. */
const lambdaUse = { requests: 1_000_000, seconds: 0.1 };
const bucketUse = { gigabytes: 100 };

const lambda: Pricer = (values, bill) => {
  const gigabytes = (values.number('memory_size') ?? 128) / 1024;
  const architecture = values.texts('architectures')[0] === 'arm64' ? '-arm' : '';
  bill.monthly('lambda/requests', lambdaUse.requests);
  bill.monthly(`lambda/gb-second${architecture}`, lambdaUse.requests * lambdaUse.seconds * gigabytes);
  bill.assume('1,000,000 requests a month of 100 ms each');
};

const bucket: Pricer = (_values, bill) => {
  bill.monthly('s3/standard', bucketUse.gigabytes);
  bill.assume('100 GB in storage class Standard; no requests, no data transfer');
};

export const serverless: Record<string, Pricer> = {
  aws_lambda_function: lambda,
  aws_s3_bucket: bucket,
};

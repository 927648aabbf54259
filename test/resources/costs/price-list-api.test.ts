import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Price } from '#resources/costs/bill.ts';
import { decimal } from '#resources/costs/decimal.ts';
import { type Serving, serve } from '#test/support/serve.ts';

/** A server that answers like AWS (AWS Price List API: GetProducts), or as a test requires. */

interface Asked {
  service: string;
  filters: Record<string, string>;
  target: string;
  authorization: string;
}

let server: Serving;
let requests: Asked[];
let answer: (request: Asked) => { status: number; body: string } | undefined;

const product = (usagetype: string, ...prices: [usd: string, beginRange?: string][]) =>
  JSON.stringify({
    product: { productFamily: 'x', attributes: { usagetype } },
    serviceCode: 'x',
    terms: {
      OnDemand: {
        'S.T': {
          priceDimensions: Object.fromEntries(
            prices.map(([USD, beginRange = '0'], i) => [
              `S.T.${i}`,
              { unit: 'Hrs', beginRange, endRange: 'Inf', pricePerUnit: { USD } },
            ]),
          ),
        },
      },
      Reserved: { 'S.R': { priceDimensions: { 'S.R.1': { beginRange: '0', pricePerUnit: { USD: '0.0010000000' } } } } },
    },
  });
const page = (...products: string[]) => ({
  status: 200,
  body: JSON.stringify({ FormatVersion: 'aws_v1', PriceList: products }),
});

beforeEach(async () => {
  requests = [];
  answer = () => page();
  server = await serve(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const { ServiceCode, Filters } = JSON.parse(body);
    const one: Asked = {
      service: ServiceCode,
      filters: Object.fromEntries(Filters.map(({ Field, Value }: { Field: string; Value: string }) => [Field, Value])),
      target: String(request.headers['x-amz-target']),
      authorization: String(request.headers.authorization),
    };
    requests.push(one);
    const reply = answer(one);
    if (reply) response.writeHead(reply.status, { 'content-type': 'application/x-amz-json-1.1' }).end(reply.body);
  });
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_PRICING: server.url,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
  });
});
afterEach(async () => {
  vi.useRealTimers();
  await server.close();
});

/** A module without cached prices. */
const fresh = async () => {
  vi.resetModules();
  return (await import('#resources/costs/prices/index.ts')).quotesFor;
};
const of = (item: string, region = 'sa-east-1'): Price => ({ region, item });

describe('asking AWS for prices', () => {
  it("queries the products of the region, signed for the API's own region", async () => {
    answer = () =>
      page(product('SAE1-BoxUsage:t3.micro', ['0.0168000000']), product('SAE1-UnusedBox:t3.micro', ['9.0']));
    const quotes = await (await fresh())([of('ec2/t3.micro')]);
    expect([...quotes]).toEqual([['sa-east-1 ec2/t3.micro', { usd: decimal('0.0168'), source: 'price-list-api' }]]);
    expect(requests[0]).toMatchObject({
      service: 'AmazonEC2',
      target: 'AWSPriceListService.GetProducts',
      filters: { instanceType: 't3.micro', regionCode: 'sa-east-1', operatingSystem: 'Linux', tenancy: 'Shared' },
    });
    expect(requests[0]?.authorization).toContain('/us-east-1/pricing/aws4_request');
  });

  it('reads first tiers, and converts units', async () => {
    answer = ({ filters }) =>
      filters.group
        ? page(product('SAE1-Lambda-GB-Second', ['0.0000166667'], ['0.0000150000', '6000000000']))
        : page(product('SAE1-EBS:VolumeP-Throughput.gp3', ['40.9600000000']));
    const quotes = await (await fresh())([of('lambda/gb-second'), of('ebs/gp3-throughput')]);
    expect([...quotes.values()].map(({ usd }) => usd)).toEqual([decimal('0.0000166667'), decimal('0.04')]);
  });

  it('uses the price file for products with several prices or none', async () => {
    answer = ({ service }) =>
      service === 'AWSELB'
        ? page(product('LoadBalancerUsage', ['0.02']), product('LoadBalancerUsage', ['0.03']))
        : page(product('NatGateway-Hours', ['0.0000000000']));
    const quotes = await (await fresh())([of('lb/application', 'us-east-1'), of('nat/gateway', 'sa-east-1')]);
    expect([...quotes]).toEqual([['us-east-1 lb/application', { usd: decimal('0.0225'), source: 'price-file' }]]);
  });

  it('queries each price once a day, and caches missing prices too', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    answer = ({ filters }) => (filters.instanceType ? page(product('BoxUsage:m5.large', ['0.1'])) : page());
    const quotesFor = await fresh();
    for (let n = 0; n < 3; n++) await quotesFor([of('ec2/m5.large'), of('nat/gateway')]);
    expect(requests.length).toBe(2);
    vi.setSystemTime(Date.now() + 13 * 3600_000);
    await quotesFor([of('ec2/m5.large')]);
    expect(requests.length).toBe(3);
  });

  it('sends at most 60 requests for one plan', async () => {
    answer = ({ filters }) => page(product(`BoxUsage:${filters.instanceType}`, ['0.1']));
    const quotes = await (await fresh())(Array.from({ length: 500 }, (_, i) => of(`ec2/x${i}.large`)));
    expect([requests.length, quotes.size]).toEqual([60, 60]);
  });

  it.each<[string, () => { status: number; body: string }]>([
    ['refuses', () => ({ status: 400, body: '{"__type":"AccessDeniedException","message":"no"}' })],
    ['is not there', () => ({ status: 400, body: '{"__type":"UnknownOperationException"}' })],
    ['is throttled', () => ({ status: 400, body: '{"__type":"ThrottlingException"}' })],
    ['is down', () => ({ status: 503, body: '' })],
    ['answers nonsense', () => ({ status: 200, body: '<html>' })],
    ['returns invalid prices', () => page(product('BoxUsage:t3.micro', ['free']))],
  ])('uses the price file for a while when the API %s', async (_name, refusal) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    answer = refusal;
    const quotesFor = await fresh();
    const all = [of('ec2/t3.micro', 'us-east-1'), of('nat/gateway', 'us-east-1'), of('ec2/t3.micro')];
    for (let n = 0; n < 2; n++) {
      const quotes = await quotesFor(all);
      expect([...quotes.values()].map(({ source }) => source)).toEqual(['price-file', 'price-file']);
    }
    expect(requests.length).toBe(1);
    answer = () => page(product('BoxUsage:t3.micro', ['0.5']));
    vi.setSystemTime(Date.now() + 16 * 60_000);
    expect((await quotesFor(all)).get('sa-east-1 ec2/t3.micro')).toMatchObject({ source: 'price-list-api' });
  });

  it('times out', async () => {
    answer = () => undefined;
    const quotes = await (await fresh())([of('nat/gateway', 'us-east-1'), of('eks/cluster', 'us-east-1')]);
    expect([...quotes.values()].map(({ source }) => source)).toEqual(['price-file', 'price-file']);
    expect(requests.length).toBe(1);
  });
});

import { describe, expect, it } from 'vitest';
import { Cors } from '#infra/local/host/cors.ts';
import { Stack } from '#infra/local/host/template.ts';
import { serve } from '#test/support/serve.ts';

const rule = {
  AllowedOrigins: ['https://page.example'],
  AllowedMethods: ['GET', 'PUT'],
  AllowedHeaders: ['content-type'],
};
const template = {
  Resources: {
    Open: { Type: 'AWS::S3::Bucket', Properties: { CorsConfiguration: { CorsRules: [rule] } } },
    Closed: { Type: 'AWS::S3::Bucket', Properties: {} },
  },
};
const stack = new Stack(template, { accountId: '000000000000', region: 'us-east-1', apiUrl: 'http://localhost' });
const [open, closed] = stack.all('AWS::S3::Bucket').map(({ ref }) => ref);

const cors = new Cors(stack);
const server = await serve((request, response) => {
  if (!cors.apply(request, response)) response.end('object');
});
const url = server.url;

const ask = async (path: string, method: string, headers: string, origin = 'https://page.example') => {
  const answer = await fetch(`${url}${path}`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': headers },
  });
  return [answer.status, answer.headers.get('access-control-allow-origin')];
};

describe('CORS on objects', () => {
  it('follows the rules of the bucket', async () => {
    expect(await ask(`/${open}/key`, 'PUT', 'content-type')).toEqual([200, 'https://page.example']);
    expect(await ask(`/${open}/key`, 'DELETE', '')).toEqual([403, null]);
    expect(await ask(`/${open}/key`, 'PUT', 'content-type, x-amz-acl')).toEqual([403, null]);
    expect(await ask(`/${open}/key`, 'PUT', '', 'https://elsewhere.example')).toEqual([403, null]);
    expect(await ask(`/${closed}/key`, 'GET', '')).toEqual([403, null]);
  });

  it('adds headers to the actual response, only for allowed origins', async () => {
    const given = await fetch(`${url}/${open}/key`, { headers: { origin: 'https://page.example' } });
    expect([await given.text(), given.headers.get('access-control-allow-origin')]).toEqual([
      'object',
      'https://page.example',
    ]);
    const stranger = await fetch(`${url}/${open}/key`);
    expect([await stranger.text(), stranger.headers.get('access-control-allow-origin')]).toEqual(['object', null]);
  });
});

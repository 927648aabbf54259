import { describe, expect, it } from 'vitest';
import { Router } from '#infra/local/host/routes.ts';

const router = (...keys: string[]) => new Router(keys.map((key) => ({ key, functionArn: key, timeoutMs: 1000 })));

describe('route matching', () => {
  const routes = router(
    'ANY /api/v2/{proxy+}',
    'GET /api/v2/{proxy+}',
    'ANY /api/v2/ping',
    'GET /pets/{id}',
    'GET /pets/{id}/toys/{toy}',
    'POST /{proxy+}',
  );

  it.each([
    ['a full match before a greedy one', 'GET', '/api/v2/ping', 'ANY /api/v2/ping', {}],
    ['a method before ANY', 'GET', '/api/v2/runs/1', 'GET /api/v2/{proxy+}', { proxy: 'runs/1' }],
    ['ANY for other methods', 'PATCH', '/api/v2/runs', 'ANY /api/v2/{proxy+}', { proxy: 'runs' }],
    ['a longer greedy prefix first', 'POST', '/api/v2/runs', 'ANY /api/v2/{proxy+}', { proxy: 'runs' }],
    ['a greedy route for the rest', 'POST', '/other', 'POST /{proxy+}', { proxy: 'other' }],
    ['parameters', 'GET', '/pets/7/toys/ball', 'GET /pets/{id}/toys/{toy}', { id: '7', toy: 'ball' }],
  ])('selects %s', (_, method, path, key, parameters) => {
    expect(routes.find(method, path)).toEqual({ route: expect.objectContaining({ key }), parameters });
  });

  it.each([
    ['GET', '/api/v2/'],
    ['GET', '/api/v2'],
    ['GET', '/pets'],
    ['GET', '/pets/'],
    ['GET', '/pets/1/'],
    ['DELETE', '/pets/1'],
  ])('finds no route for %s %s', (method, path) => {
    expect(routes.find(method, path)).toBeUndefined();
  });

  it('falls back to $default', () => {
    expect(router('GET /a', '$default').find('PUT', '/b')?.route.key).toBe('$default');
  });
});

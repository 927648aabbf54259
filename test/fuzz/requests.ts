import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { QueryParameters } from '#api/query-parameters.ts';
import type { Route } from '#api/route.ts';
import { fillPath } from '#test/support/world.ts';
import { documentOf } from './bodies.ts';
import type { Living } from './platform.ts';
import { anyJson, hostileBody, hostileTexts, type Random } from './random.ts';
import type { Shape } from './shapes.ts';

/** One request of any caller to any function behind the HTTP API. */

export interface Target {
  method: string;
  path: string;
  /** Shape of the body that the route reads; undefined if it reads none. */
  shape?: Shape;
  query?: QueryParameters;
}

const text = (random: Random): string => random.of(hostileTexts);

/** Values that a client could put into a path segment. */
const segment = (random: Random): string => {
  const value = text(random).slice(0, 2000);
  if (random.chance(0.3)) return value;
  try {
    return encodeURIComponent(value);
  } catch {
    return '%ED%A0%80';
  }
};

const parameter = /\{\w+\}/;

const pathOf = ({ method, path }: Target, random: Random, { world, logSecret }: Living): string => {
  // Renaming or deleting the organization would end the world, and its name is never reused.
  const endsWorld = method !== 'GET' && /^\/api\/v2\/organizations\/\{organization\}$/.test(path);
  const ids = Object.values(world).filter((id) => id && !(endsWorld && id === world.organization));
  let filled = endsWorld ? path.replace(parameter, world.spare ?? '') : path;
  while (parameter.test(filled) && random.chance(0.12)) {
    filled = filled.replace(parameter, () => (random.chance(0.5) ? segment(random) : random.of(ids)));
  }
  filled = filled.replace('{log}', logSecret);
  return fillPath(filled, world);
};

const values = (random: Random, { world }: Living): string => {
  const kind = random.below(10);
  if (kind < 4) return text(random);
  if (kind < 6) return random.of(Object.values(world));
  return random.of([
    '1',
    '2',
    '100',
    'name',
    '-name',
    'created-at',
    'name:asc',
    'true',
    'false',
    'plan_only',
    'applied,errored',
    'workspace',
    'current_run.plan',
    'readme',
    'outputs',
    'inbound',
    'outbound',
    'opa',
    'finalized',
    '2026',
    'year',
    '2026-01-01T00:00:00Z',
    'owned',
  ]);
};

/** Parameters that some route accepts. */
const parameters: readonly string[] = [
  'include',
  'include',
  'sort',
  'q',
  'q[name]',
  'page[number]',
  'page[size]',
  'page',
  'search[name]',
  'search[wildcard-name]',
  'search[tags]',
  'search[exclude-tags]',
  'search[basic]',
  'search[user]',
  'search[commit]',
  'filter[tagged][0][key]',
  'filter[tagged][0][value]',
  'filter[tagged]',
  'filter[project][id]',
  'filter[current-run][status]',
  'filter[status]',
  'filter[status_group]',
  'filter[operation]',
  'filter[source]',
  'filter[timeframe]',
  'filter[workspace_names]',
  'filter[workspace][name]',
  'filter[workspace][id]',
  'filter[organization][name]',
  'filter[team][id]',
  'filter[names]',
  'filter[email]',
  'filter[kind]',
  'filter[versioned]',
  'filter[global]',
  'filter[run-trigger][type]',
  'filter[last-ping-since]',
  'filter[allowed-workspaces][name]',
  'filter[expiry_status]',
  'filter[no-such]',
  'scope',
  'since',
  'name',
  'token',
  'workspace_id',
  'organization_name',
  'show_only_configured',
  'limit',
  'offset',
  'client_id',
  'redirect_uri',
  'code_challenge',
  'state',
  'code',
];

const required = (path: string, { world }: Living): string[] => {
  const pair = (name: string, value = '') => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  if (path.endsWith('/state-versions')) {
    return [pair('filter[organization][name]', 'acme'), pair('filter[workspace][name]', world.name)];
  }
  if (path.endsWith('/team-workspaces')) return [pair('filter[workspace][id]', world.workspace)];
  if (path.endsWith('/team-projects')) return [pair('filter[project][id]', world.project)];
  if (path.endsWith('/run-triggers')) return [pair('filter[run-trigger][type]', 'inbound')];
  if (path.startsWith('/oauth/')) {
    return [
      `client_id=terraform-cli&response_type=code&code_challenge=${'a'.repeat(43)}&code_challenge_method=S256&state=s`,
    ];
  }
  if (path.endsWith('/api/v2/runs')) return [pair('workspace_id', world.workspace)];
  return [];
};

const queryOf = ({ path: template, query = {} }: Target, path: string, random: Random, living: Living): string => {
  const queryNames = Object.keys(query);
  const names =
    queryNames.length > 0 ? queryNames.map((name) => name.replace('[*]', `[${random.below(3)}]`)) : parameters;
  const parts = random.chance(0.9) ? required(path, living) : [];
  // A route without known parameters rejects each of them.
  const most = queryNames.length > 0 || !template.startsWith('/api/') ? 4 : random.chance(0.2) ? 2 : 0;
  for (let n = random.chance(0.4) ? 0 : random.below(most); n > 0; n--) {
    const name = random.of(random.chance(0.8) ? names : parameters);
    const value = values(random, living);
    try {
      parts.push(random.chance(0.1) ? `${name}=${value}` : `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    } catch {
      parts.push(`${name}=%ED%A0%80`);
    }
  }
  return parts.join('&');
};

const authorization = (path: string, random: Random, { tokens }: Living): string | undefined => {
  const kind = random.below(40);
  if (kind === 0) return undefined;
  if (kind === 1) return random.of(['', 'Bearer', 'Bearer ', 'Basic YTpi', `Bearer ${text(random)}`, 'bearer  x y']);
  if (kind < 4) return `Bearer ${random.of(Object.values(tokens))}`;
  if (kind < 8) return `Bearer ${tokens.member}`;
  if (path.startsWith('/runner/')) return `Bearer ${tokens[random.of(['plan', 'apply'])]}`;
  if (path.startsWith('/agent/')) return `Bearer ${tokens.agent}`;
  if (path.startsWith('/scim/')) return `Bearer ${tokens.scim}`;
  if (path.endsWith('/callback')) return `Bearer ${tokens.task}`;
  return `bearer ${tokens.owner}`;
};

const headersOf = (path: string, random: Random, living: Living): Record<string, string> => {
  const headers: Record<string, string> = { host: 'api.example.test', 'x-forwarded-proto': 'https' };
  const header = authorization(path, random, living);
  if (header !== undefined) headers.authorization = header;
  const maybe = (name: string, probability: number, choices: readonly string[]) => {
    if (random.chance(probability)) headers[name] = random.of(choices);
  };
  maybe('content-type', 0.5, ['application/vnd.api+json', 'application/json', 'text/plain;charset=x']);
  maybe('content-type', 0.03, ['', 'text/html', 'multipart/form-data', 'application/vnd.api+json; ext="x"', '/']);
  maybe('content-encoding', 0.01, ['gzip', 'identity', '']);
  maybe('if-match', 0.08, ['*', '"0"', 'W/"1"', '"', '', '"1", "2"', ...hostileTexts.slice(0, 25)]);
  maybe('accept', 0.1, ['*/*', 'application/json', '', 'text/html;q=x']);
  maybe('accept-encoding', 0.05, ['br', 'gzip;q=0', ';;;', '']);
  maybe('x-terraform-integration', 0.05, ['cloud', 'x']);
  maybe('terraform-version', 0.05, ['1.11.4', 'x']);
  maybe('user-agent', 0.05, ['x'.repeat(8000), '\u00ff']);
  maybe('host', 0.02, ['', 'a b', '[::1]:80', 'x'.repeat(300)]);
  return headers;
};

/** As browsers and OAuth clients send it. */
const formOf = (random: Random, living: Living): string => {
  const names = [
    'client_id',
    'redirect_uri',
    'response_type',
    'code_challenge',
    'code_challenge_method',
    'state',
    'code',
  ];
  const more = ['grant_type', 'code_verifier', 'token', 'secret', 'id_token'];
  const fields: Record<string, string> = {
    client_id: random.of(['terraform-cli', 'page', text(random)]),
    redirect_uri: random.of(['http://localhost:10000/login', 'https://evil.test/', text(random)]),
    response_type: 'code',
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
    grant_type: random.of(['authorization_code', text(random)]),
    token: living.tokens.owner ?? '',
  };
  const form = new URLSearchParams();
  for (const name of [...names, ...more]) {
    if (random.chance(0.8)) form.append(name, random.chance(0.7) ? (fields[name] ?? text(random)) : text(random));
  }
  return String(form);
};

const bodyOf = ({ shape, path }: Target, random: Random, living: Living): string | undefined => {
  if (path.startsWith('/oauth/') && random.chance(0.8)) return formOf(random, living);
  const kind = random.below(20);
  if (!shape) return kind < 15 ? undefined : hostileBody(random);
  if (kind === 0) return undefined;
  if (kind < 3) return hostileBody(random);
  if (kind === 3) return JSON.stringify(anyJson(random));
  const broken = kind < 9 ? 0 : kind < 17 ? 1 : random.below(5) + 1;
  return JSON.stringify(documentOf(shape, random, living, broken));
};

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path).split('?', 1)[0] as string;
  } catch {
    return path;
  }
};

/** API Gateway's event (HTTP APIs: payload format 2.0). */
export const eventFor = (request: {
  method: string;
  path: string;
  query?: string;
  headers: Record<string, string>;
  body?: string;
  base64?: boolean;
}): APIGatewayProxyEventV2 => {
  const { method, query = '', headers, body, base64 = false } = request;
  const path = decoded(request.path);
  const all: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(query)) all[name] = name in all ? `${all[name]},${value}` : value;
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: query,
    queryStringParameters: query ? all : undefined,
    cookies: [],
    headers,
    requestContext: {
      domainName: 'api.example.test',
      requestId: 'request',
      http: { method, path, sourceIp: '192.0.2.1', protocol: 'HTTP/1.1', userAgent: headers['user-agent'] ?? '' },
    },
    body,
    isBase64Encoded: base64,
  } as unknown as APIGatewayProxyEventV2;
};

const outside: Target[] = [
  ...['claim', 'log', 'heartbeat', 'uploads', 'state-versions', 'errored-state', 'report', 'ready', 'x'].map(
    (call) => ({
      method: 'POST',
      path: `/runner/v1/${call}`,
    }),
  ),
  { method: 'POST', path: '/runner/v1/state-versions/{state}/complete' },
  ...['register', 'next', 'ping', 'over', 'request', 'answer', 'toString'].map((call) => ({
    method: 'POST',
    path: `/agent/v1/${call}`,
  })),
  ...['Users', 'Groups'].flatMap((kind) => [
    { method: 'GET', path: `/scim/v2/{scimConfiguration}/${kind}` },
    { method: 'POST', path: `/scim/v2/{scimConfiguration}/${kind}` },
    ...['GET', 'PUT', 'PATCH', 'DELETE'].map((method) => ({
      method,
      path: `/scim/v2/{scimConfiguration}/${kind}/{x}`,
    })),
  ]),
  { method: 'GET', path: '/logs/{run}/plan/{log}' },
  { method: 'GET', path: '/logs/{another run}/apply/{log}' },
  { method: 'GET', path: '/.well-known/openid-configuration' },
  { method: 'GET', path: '/.well-known/jwks' },
  { method: 'GET', path: '/.well-known/{x}' },
  { method: 'GET', path: '/app/{x}' },
  { method: 'GET', path: '/app/assets/{x}' },
  { method: 'GET', path: '/docs' },
  { method: 'GET', path: '/docs/{x}' },
  { method: 'GET', path: '/' },
  { method: 'GET', path: '/api/v2/{x}/{y}' },
  { method: 'OPTIONS', path: '/api/v2/workspaces/{workspace}' },
  { method: 'HEAD', path: '/api/v2/workspaces/{workspace}' },
  { method: 'PATCH', path: '/oauth/{x}' },
  { method: 'POST', path: '/api/v2/admin/{x}' },
];

/** All request targets; one in ten is outside the API. */
export const targetsOf = (routes: Route[], shapes: Map<string, Shape>): { of(random: Random): Target } => {
  const ofApi = routes.map(({ method, path, query }) => ({
    method,
    path,
    query,
    shape: shapes.get(`${method} ${path}`),
  }));
  const others = outside.map((one) => ({ ...one, shape: shapes.get(`${one.method} ${one.path}`) }));
  const one = (random: Random): Target => (random.chance(0.1) ? random.of(others) : random.of(ofApi));
  // Deletions of resources that other requests need are less frequent.
  const ends = ({ method, path }: Target) => (method === 'DELETE' && /\}$/.test(path)) || path.endsWith('/safe-delete');
  return {
    of: (random) => {
      const first = one(random);
      return ends(first) && random.chance(0.8) ? one(random) : first;
    },
  };
};

export const outsideTargets: readonly Target[] = outside;

export const requestFor = (target: Target, random: Random, living: Living): APIGatewayProxyEventV2 => {
  const path = pathOf(target, random, living);
  const text = bodyOf(target, random, living);
  // Bytes that are not text are in base64, as are bodies without a type; and the flag can be wrong.
  const base64 = random.chance(0.15);
  const bytes = random.chance(0.05) ? Buffer.from([0xff, 0xfe, 0xc3, 0x28]) : Buffer.from(text ?? '');
  const body = text === undefined ? undefined : base64 && random.chance(0.95) ? bytes.toString('base64') : text;
  return eventFor({
    method: target.method,
    path,
    query: queryOf(target, path, random, living),
    headers: headersOf(path, random, living),
    body,
    base64,
  });
};

import type { Template } from '#infra/build/synth.ts';

/** Routes and integrations as resources, for an emulator that reads no OpenAPI document of an HTTP API. */

interface Body {
  info: { title: unknown };
  paths: Record<string, Record<string, Operation>>;
  components: { 'x-amazon-apigateway-integrations': Record<string, { uri: unknown; timeoutInMillis: number }> };
}
interface Operation {
  'x-amazon-apigateway-integration'?: { $ref: string };
}
interface Stage {
  ApiId: { Ref: string };
  StageVariables?: Record<string, unknown>;
}

/** Changes the template. */
export const expandApis = (template: Template): void => {
  const { Resources } = template;
  for (const [id, { Type, Properties = {} }] of Object.entries(Resources)) {
    if (Type === 'AWS::ApiGatewayV2::Deployment') delete Resources[id];
    if (Type !== 'AWS::ApiGatewayV2::Stage') continue;
    const { ApiId, StageVariables } = Properties as unknown as Stage;
    const api = Resources[ApiId.Ref]?.Properties;
    if (!StageVariables || !api?.Body) continue;
    const { DeploymentId: _, StageVariables: __, ...stage } = Properties;
    const body = api.Body as Body;
    Object.assign(Resources, resourcesOf(ApiId.Ref, body, StageVariables), {
      [id]: { ...Resources[id], Properties: { ...stage, AutoDeploy: true } },
      [ApiId.Ref]: { ...Resources[ApiId.Ref], Properties: { Name: body.info.title, ProtocolType: 'HTTP' } },
    });
  }
};

const resourcesOf = (api: string, { paths, components }: Body, variables: Record<string, unknown>) => {
  const integrations = Object.entries(components['x-amazon-apigateway-integrations']).map(
    ([name, { uri, timeoutInMillis }]) => [
      `${api}Integration${name}`,
      {
        Type: 'AWS::ApiGatewayV2::Integration',
        Properties: {
          ApiId: { Ref: api },
          IntegrationType: 'AWS_PROXY',
          IntegrationUri: withVariables(uri, variables),
          PayloadFormatVersion: '2.0',
          TimeoutInMillis: timeoutInMillis,
        },
      },
    ],
  );
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const routes = operations.flatMap(({ path, method, operation: { 'x-amazon-apigateway-integration': target } }, n) =>
    target
      ? [
          [
            `${api}Route${n}`,
            {
              Type: 'AWS::ApiGatewayV2::Route',
              Properties: {
                ApiId: { Ref: api },
                RouteKey: routeKey(path, method),
                Target: {
                  'Fn::Join': ['/', ['integrations', { Ref: `${api}Integration${target.$ref.split('/').at(-1)}` }]],
                },
              },
            },
          ],
        ]
      : [],
  );
  return Object.fromEntries([...integrations, ...routes]);
};

const routeKey = (path: string, method: string): string => {
  if (path === '/$default') return '$default';
  return `${method === 'x-amazon-apigateway-any-method' ? 'ANY' : method.toUpperCase()} ${path}`;
};

/** A string, or a join of strings and references, with the values of stage variables. */
const withVariables = (uri: unknown, variables: Record<string, unknown>): unknown => {
  const parts = typeof uri === 'string' ? [uri] : (uri as { 'Fn::Join': [string, unknown[]] })['Fn::Join'][1];
  const filled = parts.flatMap((part) =>
    typeof part === 'string'
      ? part.split(/(\$\{stageVariables\.\w+\})/).map((text) => {
          const [, name] = /^\$\{stageVariables\.(\w+)\}$/.exec(text) ?? [];
          return name === undefined ? text : variables[name];
        })
      : [part],
  );
  return { 'Fn::Join': ['', filled] };
};

import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import type { Route } from '#api/route.ts';
import { serve } from '#clients/web-server/serve.ts';
import { serveDocs } from '#clients/web-server/serve-docs.ts';
import { Router } from '#infra/local/host/routes.ts';
import type { HttpFunction } from '#infra/stack/functions.ts';
import { uniqueName } from '#test/support/api.ts';
import { knownApiRoutes } from '#test/support/api-routes.ts';
import { handlerOf } from '#test/support/handlers.ts';
import { memberHelpers } from '#test/support/members.ts';
import { startRunnerApi } from '#test/support/runner-api.ts';
import { taskHelpers } from '#test/support/task-stages.ts';
import { makeWorld, type World } from '#test/support/world.ts';

/** Every function behind the HTTP API, an organization with one resource of each kind, and a token of each kind. */

export interface Answer {
  statusCode?: number;
  headers?: Record<string, string>;
  body?: string;
  isBase64Encoded?: boolean;
}

export interface Living {
  world: World;
  /** By kind of caller. */
  tokens: Record<string, string>;
  logSecret: string;
}

export interface Platform {
  routes: Route[];
  /** Whether the function responds in the API's format, by the name of the function. */
  functionOf(method: string, path: string): string;
  send(event: APIGatewayProxyEventV2): Promise<Answer>;
  /** Creates one resource of each kind. */
  live(): Promise<Living>;
  close(): Promise<void>;
}

const page = { html: '<base href="{{base}}">', assets: {}, openapi: { contentType: 'application/json', br: '' } };
const web = (event: APIGatewayProxyEventV2) => serve(event, { files: page, bucketOrigin: 'https://bucket.test' });
const docs = (event: APIGatewayProxyEventV2) =>
  serveDocs(event, () => new Map([['index.html', '<h1>Documentation</h1>']]));
/** They are not bundled here. */
const ofFiles: Record<string, (event: APIGatewayProxyEventV2) => unknown> = { Web: web, Docs: docs };

export const startPlatform = async (): Promise<Platform> => {
  const runner = await startRunnerApi();
  const { api } = runner;
  const { routes } = await import('#public-api/all-routes.ts');
  const apiRoutes = await knownApiRoutes();
  const gateway = new Router(apiRoutes.map(({ key, target }) => ({ key, functionArn: target, timeoutMs: 29_000 })));
  const { getRun } = await import('#resources/runs/records.ts');
  const { stateTokenOf } = await import('#resources/runs/state-tokens.ts');
  const members = await memberHelpers();
  const tasks = await taskHelpers();
  const target = (method: string, path: string) => gateway.find(method, path)?.route.functionArn ?? 'Api';
  let worlds = 0;
  let member: Awaited<ReturnType<typeof members.withLevel>> | undefined;
  return {
    routes,
    functionOf: target,
    send: async (event) => {
      const id = target(event.requestContext.http.method, event.rawPath) as HttpFunction;
      return (ofFiles[id]?.(event) ?? (await (await handlerOf(id))(event, {} as Context))) as Answer;
    },
    live: async () => {
      const world = await makeWorld(api);
      // A second organization: the fuzzer may delete and rename it.
      const spare = uniqueName('spare');
      await api.post('organizations', { name: spare, email: 'spare@acme.test' });
      const plan = await runner.claim('plan');
      const apply = await runner.claim('apply');
      const { secret: forAgents } = await api
        .post(`agent-pools/${world.pool}/authentication-tokens`, { description: 'a' })
        .then(({ body }) => ({ secret: body.data.attributes.token as string }));
      const directory = await api.post(`scim-configurations/${world.scimConfiguration}/authentication-tokens`, {
        description: 'directory',
      });
      const own = await api.post(`users/${api.userId}/authentication-tokens`, { description: 'own' });
      const { accessToken } = await tasks.ask(world.result ?? '');
      // A project has at most 100 teams with access, and a long run creates more worlds than that.
      if (worlds++ % 10 === 0) member = await members.withLevel('acme', 'write');
      const run = await getRun(plan.run);
      return {
        world: {
          ...world,
          user: api.userId,
          token: own.body.data.id,
          spare,
          'another workspace': plan.workspace,
          'another run': plan.run,
        },
        tokens: {
          owner: api.token,
          member: member?.token ?? '',
          plan: plan.token,
          apply: apply.token,
          state: stateTokenOf(plan.run, 'plan', plan.token),
          agent: forAgents,
          scim: directory.body.data.attributes.token,
          task: accessToken,
        },
        logSecret: run?.logSecret ?? '',
      };
    },
    close: () => runner.close(),
  };
};

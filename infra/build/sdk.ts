import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OnLoadResult, Plugin } from 'esbuild';

/**
 * Removes parts of the AWS SDK that no Lambda function uses: half of the code that each cold start would read and
 * compile (docs/performance.md has the effect of each). A replacement that matches nothing after an update of the SDK
 * fails the build.
 */

/** Packages of the SDK, by the file that replaces them. */
const packages: Record<string, string> = {
  '@aws-sdk/credential-provider-node': 'credentials.ts',
  '@aws-sdk/middleware-endpoint-discovery': 'endpoint-discovery.ts',
  '@smithy/core/event-streams': 'event-streams.ts',
};

const endpointResolver = /\/@aws-sdk\/client-(\w+)\/dist-es\/endpoint\/endpointResolver\.js$/;
const clientSchemas = /\/@aws-sdk\/client-\w+\/dist-es\/schemas\/schemas_0\.js$/;

/**
 * Errors keep their names and messages without one class each, because the code checks only `error.name`; all are
 * instances of the service's base class. Schemas of unused operations are dropped once the bundler may assume that
 * constructing them has no side effects.
 */
const onlyUsedSchemas = (schemas: string): string =>
  schemas
    .replaceAll(/^n0_registry\.registerError\(.*$/gm, '')
    .replaceAll(/^(export )?(var \w+\$?|const \w+\$?) = (\[[\s\S]*?\]);$/gm, '$1$2 = /* @__PURE__ */ (() => $3)();');

export const sdkPlugin = (root: string): Plugin => ({
  name: 'aws-sdk',
  setup: (build) => {
    const at = (file: string) => join(root, 'infra/build/sdk', file);
    const missing = new Set([...Object.keys(packages), 'endpointResolver.js', 'schemas_0.js']);
    build.onResolve({ filter: /^@(aws-sdk|smithy)\// }, ({ path }) => {
      const file = packages[path];
      if (!file) return undefined;
      missing.delete(path);
      return { path: at(file) };
    });
    build.onLoad({ filter: endpointResolver }, ({ path }): OnLoadResult => {
      missing.delete('endpointResolver.js');
      const [, client] = endpointResolver.exec(path) ?? [];
      return {
        contents: `export { ${client} as defaultEndpointResolver } from ${JSON.stringify(at('endpoints.ts'))};`,
      };
    });
    build.onLoad({ filter: clientSchemas }, async ({ path }): Promise<OnLoadResult> => {
      missing.delete('schemas_0.js');
      return { contents: onlyUsedSchemas(await readFile(path, 'utf8')) };
    });
    build.onEnd(({ errors }) => {
      if (errors.length === 0 && missing.size > 0)
        throw new Error(`infra/build/sdk.ts: the AWS SDK no longer has these parts: ${[...missing].join(', ')}`);
    });
  },
});

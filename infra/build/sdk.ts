import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OnLoadResult, Plugin } from 'esbuild';

/**
 * Leaves out of the bundles what the AWS SDK brings along and a Lambda function never uses: 105 of its 240 KB, which
 * each cold start would read and compile (decisions/0005). Files are known by their paths; one that is not found any
 * more after an update of the SDK fails the build, so that what is left out never comes back unseen.
 */
const standIns: Record<string, string> = {
  '@aws-sdk/credential-provider-node/dist-es/index.js': 'credentials.ts',
  '@aws-sdk/core/dist-es/submodules/client/util-endpoints/lib/aws/partitions.js': 'partitions.ts',
  '@aws-sdk/middleware-endpoint-discovery/dist-es/index.js': 'endpoint-discovery.ts',
  '@smithy/core/dist-es/submodules/checksum/sha256/Sha256Node.js': 'sha256.ts',
  '@smithy/core/dist-es/submodules/config/config-resolver/regionConfig/getInstanceMetadataRegion.js':
    'instance-metadata.ts',
  '@smithy/core/dist-es/submodules/config/shared-ini-file-loader/loadSharedConfigFiles.js': 'shared-config.ts',
  '@smithy/core/dist-es/submodules/event-streams/index.js': 'event-streams.ts',
  '@smithy/signature-v4/dist-es/HeaderFormatter.js': 'event-headers.ts',
};

/** The way it is done unless `AWS_RETRY_MODE` asks for the adaptive one, whose rate limiter is left out. */
const standardRetries = `export { StandardRetryStrategy as AdaptiveRetryStrategy } from "./StandardRetryStrategy";`;

/** What the SDK adds to `User-Agent` for AWS's own statistics. */
const noStatistics = 'export const checkFeatures = async () => {};';

/** Of each request, as it is and once more in full; functions log for themselves. */
const noRequestLogs = `
  export const getLoggerPlugin = () => ({ applyToStack: () => {} });
  export const loggerMiddleware = undefined, loggerMiddlewareOptions = undefined;
`;

/** The node version is the runtime's, and nothing but what is in these files warns of it. */
const noVersionWarning = 'export const state = {}, emitWarningIfUnsupportedVersion = () => {};';

/** The trace header of a request that X-Ray follows, which these functions are not set up for. */
const noTraceHeader = 'export const recursionDetectionMiddleware = () => (next) => (args) => next(args);';

/** Buckets as endpoint parameters; S3 is called without its client (platform/store/bucket.ts). */
const noBuckets = `
  export const DOT_PATTERN = undefined, S3_HOSTNAME_PATTERN = undefined;
  export const isDnsCompatibleBucketName = undefined, isArnBucketName = undefined;
  export const resolveParamsForS3 = (parameters) => parameters;
`;

/** For endpoint rules, which sdk/endpoints.ts has no use for. */
const noRuleFunctions = 'export const awsEndpointFunctions = {};';

/** No client is made with extensions, and `defaultsMode` is what it is unless somebody sets it. */
const noExtensions = 'export const resolveRuntimeExtensions = (config) => config;';
const legacyDefaults = "export const resolveDefaultsModeConfig = () => async () => 'legacy';";

/** Values of a request or an answer in logs that are not written. */
const noLogFilter = "export const schemaLogFilter = () => '***SensitiveInformation***';";

/** Parameters in host names and headers, which the operations of these services do not have. */
const noHttpBindings = `
  export const getHttpOperationBindings = () => [];
  export const HttpBindingNormalizedSchema = {
    of: () => { throw new TypeError('infra/build/sdk.ts leaves out parameters in host names'); },
  };
`;

/** JSON numbers of any size; DynamoDB writes its numbers as strings. */
const noLargeNumbers = 'export const jsonReviver = undefined;';
const neverRevived = 'export const needsReviver = () => false;';

/** JSON services write times as seconds; the formats of headers and XML are left out. */
const onlyEpochTimestamps = (dates: string): string => {
  const [epoch] = /^export const parseEpochTimestamp = [\s\S]*?^};$/m.exec(dates) ?? [];
  if (!epoch) throw new Error('infra/build/sdk.ts: the AWS SDK has no parseEpochTimestamp any more');
  return `
    ${epoch}
    const strictParseDouble = Number;
    const leftOut = () => { throw new TypeError('infra/build/sdk.ts leaves out this format of times'); };
    export const dateToUtcString = leftOut, parseRfc3339DateTime = leftOut;
    export const parseRfc3339DateTimeWithOffset = leftOut, parseRfc7231DateTime = leftOut;
  `;
};

/**
 * Errors keep their names and messages without a class for each: `error.name` is what the code looks at. They are all of
 * the service's base class then. Schemas of operations that nobody calls are dropped once the bundler may believe that
 * making them does nothing else.
 */
const onlyUsedSchemas = (schemas: string): string =>
  schemas
    .replaceAll(/^n0_registry\.registerError\(.*$/gm, '')
    .replaceAll(/^(export )?(var \w+\$?|const \w+\$?) = (\[[\s\S]*?\]);$/gm, '$1$2 = /* @__PURE__ */ (() => $3)();');

const read = (path: string): Promise<string> => readFile(path, 'utf8');

const edits: [path: RegExp, edit: (path: string) => Promise<string> | string][] = [
  [/\/client-(\w+)\/package\.json$/, async (path) => JSON.stringify({ version: JSON.parse(await read(path)).version })],
  [/\/client-(\w+)\/dist-es\/schemas\/schemas_0\.js$/, async (path) => onlyUsedSchemas(await read(path))],
  [/\/util-retry\/AdaptiveRetryStrategy\.js$/, () => standardRetries],
  [/\/middleware-user-agent\/check-features\.js$/, () => noStatistics],
  [/\/middleware-logger\/loggerMiddleware\.js$/, () => noRequestLogs],
  [/\/client\/emitWarningIfUnsupportedVersion\.js$/, () => noVersionWarning],
  [/\/middleware-recursion-detection\/recursionDetectionMiddleware\.js$/, () => noTraceHeader],
  [/\/service-customizations\/s3\.js$/, () => noBuckets],
  [/\/util-endpoints\/aws\.js$/, () => noRuleFunctions],
  [/\/client-(\w+)\/dist-es\/runtimeExtensions\.js$/, () => noExtensions],
  [/\/defaults-mode\/resolveDefaultsModeConfig\.js$/, () => legacyDefaults],
  [/\/smithy-client\/schemaLogFilter\.js$/, () => noLogFilter],
  [/\/protocols\/HttpBindingNormalizedSchema\.js$/, () => noHttpBindings],
  [/\/protocols\/json\/jsonReviver\.js$/, () => noLargeNumbers],
  [/\/protocols\/json\/needsReviver\.js$/, () => neverRevived],
  [/\/serde\/date-utils\.js$/, async (path) => onlyEpochTimestamps(await read(path))],
];

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');

export const sdkPlugin = (root: string): Plugin => ({
  name: 'aws-sdk',
  setup: (build) => {
    const at = (file: string) => join(root, 'infra/build/sdk', file);
    const loaded = new Set<string>();
    const load = (contents: string, path: string): OnLoadResult => ({
      contents,
      loader: path.endsWith('.json') ? 'json' : 'js',
    });
    for (const [path, file] of Object.entries(standIns)) {
      build.onLoad({ filter: new RegExp(`/node_modules/${escaped(path)}$`) }, (args) => {
        loaded.add(path);
        return load(`export * from ${JSON.stringify(at(file))};`, args.path);
      });
    }
    build.onLoad({ filter: /\/@aws-sdk\/client-(\w+)\/dist-es\/endpoint\/endpointResolver\.js$/ }, ({ path }) => {
      const client = /client-(\w+)/.exec(path)?.[1];
      loaded.add('endpoints');
      return load(`export { ${client} as defaultEndpointResolver } from ${JSON.stringify(at('endpoints.ts'))};`, path);
    });
    for (const [filter, edit] of edits) {
      build.onLoad({ filter }, async ({ path }) => {
        loaded.add(filter.source);
        return load(await edit(path), path);
      });
    }
    build.onEnd((result) => {
      const expected = [...Object.keys(standIns), 'endpoints', ...edits.map(([filter]) => filter.source)];
      const missing = expected.filter((path) => !loaded.has(path));
      if (result.errors.length === 0 && missing.length > 0) {
        throw new Error(`infra/build/sdk.ts: the AWS SDK has no such files any more: ${missing.join(', ')}`);
      }
    });
  },
});

import * as v from 'valibot';
import { yesOrNo } from './text-list.ts';

/** Host names of the operator, in place of those that API Gateway generates for each deployment. */

const hostName = v.pipe(
  v.string(),
  v.regex(
    /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/,
    'must be a host name in lower case, e.g. terraform.example.com',
  ),
);

export const domainEntries = {
  /** Host of API and page. */
  domainName: v.optional(hostName),
  /** Host of the environments, whose API has the same paths. */
  environmentsDomainName: v.optional(hostName),
  /** ACM certificate for these names, in the region of the deployment. */
  certificateArn: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[0-9a-f-]+$/,
        'must be the ARN of a certificate in ACM',
      ),
    ),
  ),
  /** Public zone in Route 53 that gets records for these names. */
  hostedZoneId: v.optional(v.pipe(v.string(), v.regex(/^Z[A-Z0-9]{1,31}$/, 'must be the id of a hosted zone'))),
  /** Whether the generated host names of APIs with a domain name still answer. */
  executeApiEndpoint: v.optional(yesOrNo, true),
};

const schema = v.object(domainEntries);
export type DomainChoices = v.InferOutput<typeof schema>;

/** Problems between settings that are each valid. */
export const domainProblems = (settings: Record<string, unknown>): string[] => {
  const { domainName, environmentsDomainName, certificateArn } = settings;
  if (domainName === undefined)
    return Object.keys(domainEntries)
      .filter((name) => name in settings)
      .map((name) => `${name}: needs domainName`);
  return [
    ...(certificateArn === undefined ? ['certificateArn: is needed with domainName'] : []),
    ...(environmentsDomainName === domainName
      ? ['environmentsDomainName: must differ from domainName, because the paths of both APIs overlap']
      : []),
  ];
};

/** A context without these settings, for a platform on one machine. */
export const withoutDomains = (context: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(context).filter(([name]) => !Object.hasOwn(domainEntries, name)));

/**
 * The `servers` of an API's OpenAPI document, which turn its generated host name off: in OpenAPI 3 the server has the
 * extension (API Gateway: x-amazon-apigateway-endpoint-configuration), and without a URL the import warns
 * (serverless-application-model #2424).
 */
export const onlyDomain = (name: string | undefined, { executeApiEndpoint }: DomainChoices): object =>
  name === undefined || executeApiEndpoint
    ? {}
    : {
        servers: [
          {
            url: `https://${name}`,
            'x-amazon-apigateway-endpoint-configuration': { disableExecuteApiEndpoint: true },
          },
        ],
      };

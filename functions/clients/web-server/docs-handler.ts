import site from 'stepform:docs';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { openDocs, serveDocs } from './serve-docs.ts';

let opened: ReadonlyMap<string, string> | undefined;
const files = (): ReadonlyMap<string, string> => {
  opened ??= openDocs(site);
  return opened;
};

/** The documentation of this version. */
export const handler = async (event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> =>
  serveDocs(event, files);

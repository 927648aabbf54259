import files from 'stepform:page';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { bucketOrigin } from '#platform/store/bucket.ts';
import { serve } from './serve.ts';

/** The web page: its assets, and the same document for every address, with 404 outside of `/app`. */
export const handler = async (event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> =>
  serve(event, { files, bucketOrigin: bucketOrigin() });

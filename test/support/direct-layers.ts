import type { DirectCall, DirectReply, DirectRequest } from '../../functions/store/direct-calls.ts';
import { undoAfterFile } from './undo.ts';

/** What tests put between the product and its services in memory: to count, record or refuse calls. */
type Layer = (request: DirectRequest, next: DirectCall) => Promise<DirectReply>;

const layers: Layer[] = [];

/** Puts a layer around those that are there. @returns what takes it away; the end of the file does so too */
export const addLayer = (layer: Layer): (() => void) => {
  layers.push(layer);
  const remove = () => {
    const at = layers.indexOf(layer);
    if (at >= 0) layers.splice(at, 1);
  };
  undoAfterFile(remove);
  return remove;
};

/** Sends a request through all layers. */
export const throughLayers = (request: DirectRequest, last: DirectCall): Promise<DirectReply> =>
  layers.reduce<DirectCall>((next, layer) => (passed) => layer(passed, next), last)(request);

/** Name of a call to DynamoDB, e.g. `GetItem`; undefined for other services. */
export const tableOperation = ({ service, headers }: DirectRequest): string | undefined =>
  service === 'dynamodb' ? headers['x-amz-target']?.split('.').at(-1) : undefined;

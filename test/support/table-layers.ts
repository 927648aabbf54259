import { undoAfterFile } from './undo.ts';

export type TableCall = (operation: string, input: object) => Promise<object>;

/** Layers between the product and its table in memory: they count, record or reject calls. */
type Layer = (operation: string, input: object, next: TableCall) => Promise<object>;

const layers: Layer[] = [];

/** Puts a layer around the existing ones. @returns a function that removes it; the end of the file removes it too */
export const addLayer = (layer: Layer): (() => void) => {
  layers.push(layer);
  const remove = () => {
    const at = layers.indexOf(layer);
    if (at >= 0) layers.splice(at, 1);
  };
  undoAfterFile(remove);
  return remove;
};

/** Makes a call through all layers. */
export const throughLayers = (operation: string, input: object, last: TableCall): Promise<object> =>
  layers.reduce<TableCall>((next, layer) => (name, passed) => layer(name, passed, next), last)(operation, input);

/** Text of an input, for searches; binary values as base64. */
export const inputText = (input: object): string =>
  JSON.stringify(input, function (this: Record<string, unknown>, key: string, value: unknown) {
    const own = this[key];
    return own instanceof Uint8Array ? Buffer.from(own).toString('base64') : value;
  });

import { configured } from './resource-times.ts';

/** Resources and what they depend on as a picture in layers: what depends on nothing stands left. */

export interface GraphResource {
  /** In the configuration or with a key: `module.a["x"].aws_vpc.main[0]`. */
  address: string;
  /** How it is drawn; one of a group gives the group its own only when all agree. */
  tone?: string | undefined;
}

export interface GraphNode {
  id: string;
  /** Without the modules that are unfolded around it. */
  label: string;
  /** How many instances it stands for. */
  count: number;
  /** Stands for all of a module or a type, and can be unfolded. */
  group: boolean;
  tone: string | undefined;
  x: number;
  y: number;
}

export interface Graph {
  nodes: GraphNode[];
  edges: { from: GraphNode; to: GraphNode }[];
  width: number;
  height: number;
}

export const nodeWidth = 220;
export const nodeHeight = 28;
const stepX = nodeWidth + 70;
const stepY = nodeHeight + 10;

/** More of one type in one module than this are one node at first. */
const mostOfType = 12;

const moduleForm = /^((?:module\.[^.]+\.)*)(.+)$/;

const partsOf = (address: string): { modules: string[]; name: string } => {
  const [, path = '', name = ''] = moduleForm.exec(address) ?? [];
  return { modules: path.match(/module\.[^.]+/g) ?? [], name };
};

const typeOf = (name: string): string => name.slice(0, name.lastIndexOf('.'));

/** The groups that a resource is in, the outermost first. */
const groupsOf = (address: string, large: ReadonlySet<string>): { id: string; label: string }[] => {
  const { modules, name } = partsOf(address);
  const groups = modules.map((label, i) => ({ id: modules.slice(0, i + 1).join('.'), label }));
  const path = modules.join('.');
  const type = `${path} ${typeOf(name)}`;
  return large.has(type) ? [...groups, { id: type, label: typeOf(name) }] : groups;
};

const largeTypes = (addresses: string[]): Set<string> => {
  const byType = Map.groupBy(addresses, (address) => {
    const { modules, name } = partsOf(address);
    return `${modules.join('.')} ${typeOf(name)}`;
  });
  return new Set([...byType].filter(([, all]) => all.length > mostOfType).map(([type]) => type));
};

type Placed = Omit<GraphNode, 'x' | 'y'>;

/** Longest way from what depends on nothing. Groups may depend on each other; a way back is not followed. */
const layersOf = (ids: string[], dependencies: Map<string, Set<string>>): Map<string, number> => {
  const layers = new Map<string, number>();
  const under = new Set<string>();
  const layerOf = (id: string): number => {
    const known = layers.get(id);
    if (known !== undefined) return known;
    if (under.has(id)) return -1;
    under.add(id);
    let layer = 0;
    for (const other of dependencies.get(id) ?? []) layer = Math.max(layer, layerOf(other) + 1);
    under.delete(id);
    layers.set(id, layer);
    return layer;
  };
  for (const id of ids) layerOf(id);
  return layers;
};

/** Far more than can be looked at. */
const mostReduced = 2_000;

/** Without what is already said by others: states name dependencies of dependencies too. */
const reduced = (needs: Map<string, Set<string>>): Map<string, Set<string>> => {
  if (needs.size > mostReduced) return needs;
  const reached = new Map<string, Set<string>>();
  const reach = (id: string): Set<string> => {
    const known = reached.get(id);
    if (known) return known;
    const all = new Set<string>();
    // Groups may lead back here.
    reached.set(id, all);
    for (const other of needs.get(id) ?? []) for (const one of [other, ...reach(other)]) all.add(one);
    return all;
  };
  return new Map(
    [...needs].map(([id, direct]) => {
      const isSaid = (one: string) =>
        [...direct].some((other) => other !== one && !reach(one).has(other) && reach(other).has(one));
      return [id, new Set([...direct].filter((one) => !isSaid(one)))];
    }),
  );
};

const sweeps = 4;

/** Each as near to its neighbours as can be, so that few lines cross. */
const order = (layers: string[][], neighbours: Map<string, Set<string>>): void => {
  const at = new Map<string, number>();
  const note = () => {
    for (const layer of layers) for (const [i, id] of layer.entries()) at.set(id, i - layer.length / 2);
  };
  const middle = (id: string): number => {
    const all = [...(neighbours.get(id) ?? [])].map((other) => at.get(other) ?? 0);
    return all.length ? all.reduce((sum, one) => sum + one, 0) / all.length : (at.get(id) ?? 0);
  };
  note();
  for (let sweep = 0; sweep < sweeps; sweep++) {
    for (const layer of sweep % 2 ? layers.toReversed() : layers) {
      const middles = new Map(layer.map((id) => [id, middle(id)]));
      layer.sort((a, b) => (middles.get(a) ?? 0) - (middles.get(b) ?? 0));
      note();
    }
  }
};

/**
 * @param dependencies by addresses in the configuration
 * @param open groups that the reader has unfolded
 */
export const graphOf = (
  resources: GraphResource[],
  dependencies: Record<string, string[]>,
  open: ReadonlySet<string>,
): Graph => {
  const byAddress = Map.groupBy(resources, ({ address }) => configured(address));
  const large = largeTypes([...byAddress.keys()]);
  const nodes = new Map<string, Placed>();
  const nodeOf = new Map<string, string>();
  for (const [address, instances] of byAddress) {
    const groups = groupsOf(address, large);
    const folded = groups.find(({ id }) => !open.has(id));
    const { id, label } = folded ?? { id: address, label: partsOf(address).name };
    nodeOf.set(address, id);
    const tones = new Set(instances.map(({ tone }) => tone));
    const tone = tones.size === 1 ? [...tones][0] : undefined;
    const node = nodes.get(id);
    if (node) {
      node.count += instances.length;
      if (node.tone !== tone) node.tone = undefined;
    } else nodes.set(id, { id, label, count: instances.length, group: folded !== undefined, tone });
  }
  const all = new Map<string, Set<string>>();
  const neighbours = new Map<string, Set<string>>();
  const link = (links: Map<string, Set<string>>, from: string, to: string) =>
    links.set(from, (links.get(from) ?? new Set()).add(to));
  for (const [address, others] of Object.entries(dependencies)) {
    for (const other of others) {
      const [to, from] = [nodeOf.get(address), nodeOf.get(other)];
      if (!from || !to || from === to) continue;
      link(all, to, from);
    }
  }
  const needs = reduced(all);
  for (const [to, from] of needs) {
    for (const one of from) {
      link(neighbours, to, one);
      link(neighbours, one, to);
    }
  }
  return place(nodes, needs, neighbours);
};

const place = (
  nodes: Map<string, Placed>,
  needs: Map<string, Set<string>>,
  neighbours: Map<string, Set<string>>,
): Graph => {
  const layerOf = layersOf([...nodes.keys()], needs);
  const layers: string[][] = [];
  for (const id of nodes.keys()) {
    const layer = layerOf.get(id) ?? 0;
    layers[layer] ??= [];
    layers[layer].push(id);
  }
  const columns = layers.filter(Boolean);
  order(columns, neighbours);
  const tallest = Math.max(1, ...columns.map(({ length }) => length));
  const placed = new Map<string, GraphNode>();
  for (const [column, ids] of columns.entries()) {
    const top = ((tallest - ids.length) * stepY) / 2;
    for (const [row, id] of ids.entries()) {
      placed.set(id, { ...(nodes.get(id) as Placed), x: column * stepX, y: top + row * stepY });
    }
  }
  const edges = [...needs].flatMap(([to, all]) =>
    [...all].map((from) => ({ from: placed.get(from) as GraphNode, to: placed.get(to) as GraphNode })),
  );
  return {
    nodes: [...placed.values()],
    edges,
    width: Math.max(1, columns.length) * stepX - (stepX - nodeWidth),
    height: tallest * stepY - (stepY - nodeHeight),
  };
};

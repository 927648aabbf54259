import { configured } from '#platform/text/resource-times.ts';

/** Layout of a dependency graph in layers: resources without dependencies are leftmost. */

export interface GraphResource {
  /** Address, with or without instance keys: `module.a["x"].aws_vpc.main[0]`. */
  address: string;
  /** Style class; a group has one if all its members agree. */
  tone?: string | undefined;
}

export interface GraphNode {
  id: string;
  /** Without the unfolded modules around it. */
  label: string;
  /** Number of instances. */
  count: number;
  /** A whole module or type, which can be unfolded. */
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

/** Larger groups of one type in one module start folded. */
const mostOfType = 12;

const moduleForm = /^((?:module\.[^.]+\.)*)(.+)$/;

const partsOf = (address: string): { modules: string[]; name: string } => {
  const [, path = '', name = ''] = moduleForm.exec(address) ?? [];
  return { modules: path.match(/module\.[^.]+/g) ?? [], name };
};

const typeOf = (name: string): string => name.slice(0, name.lastIndexOf('.'));

/** Groups of a resource, outermost first. */
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

/** Layer: longest path from a resource without dependencies. Groups may form cycles; back edges are ignored. */
const layersOf = (ids: string[], dependencies: Map<string, Set<string>>): Map<string, number> => {
  const layers = new Map<string, number>();
  const under = new Set<string>();
  const layerOf = (id: string): number => {
    const cached = layers.get(id);
    if (cached !== undefined) return cached;
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

/** Maximum number of nodes for the transitive reduction; larger graphs are too dense to read anyway. */
const mostReduced = 2_000;

/** Transitive reduction: states also list indirect dependencies. */
const reduced = (needs: Map<string, Set<string>>): Map<string, Set<string>> => {
  if (needs.size > mostReduced) return needs;
  const reached = new Map<string, Set<string>>();
  const reach = (id: string): Set<string> => {
    const cached = reached.get(id);
    if (cached) return cached;
    const all = new Set<string>();
    // Groups may form cycles.
    reached.set(id, all);
    for (const other of needs.get(id) ?? []) for (const dependency of [other, ...reach(other)]) all.add(dependency);
    return all;
  };
  return new Map(
    [...needs].map(([id, direct]) => {
      const isSaid = (dependency: string) =>
        [...direct].some(
          (other) => other !== dependency && !reach(dependency).has(other) && reach(other).has(dependency),
        );
      return [id, new Set([...direct].filter((dependency) => !isSaid(dependency)))];
    }),
  );
};

const sweeps = 4;

/** Places nodes near their neighbors, so that few lines cross. */
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
 * @param dependencies by address in the configuration
 * @param open unfolded groups
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
    for (const dependency of from) {
      link(neighbours, to, dependency);
      link(neighbours, dependency, to);
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

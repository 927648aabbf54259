import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { count } from '#clients/client/text/time.ts';
import { addStyle } from '../lazily.tsx';
import graphStyle from '../style/graph.css' with { type: 'text' };
import { type GraphNode, type GraphResource, graphOf, nodeHeight, nodeWidth } from '../text/graph.ts';
import { SmallButton } from './button.tsx';

addStyle(graphStyle);

interface Props {
  /** Accessible name for screen readers. */
  label: string;
  resources: GraphResource[];
  /** By address in the configuration. */
  dependencies: Record<string, string[]>;
  /** Configuration address of the selected resource. */
  chosen?: string | undefined;
  onChoose(address: string): void;
}

/** Dependency graph, from left to right; a click unfolds modules and large groups of one type. */
export const DependencyGraph = ({ label, resources, dependencies, chosen, onChoose }: Props) => {
  const open = useSignal<ReadonlySet<string>>(new Set());
  const graph = useMemo(() => graphOf(resources, dependencies, open.value), [resources, dependencies, open.value]);
  const press = ({ id, group }: GraphNode) => {
    if (group) open.value = new Set([...open.value, id]);
    else onChoose(id);
  };
  return (
    <section class="graph" aria-label={label}>
      <div class="row">
        <span class="soft small">
          {count(resources.length, 'resource')} in {count(graph.nodes.length, 'node')},{' '}
          {count(graph.edges.length, 'dependency').replace('dependencys', 'dependencies')}. Arrows point to dependents.
        </span>
        {open.value.size > 0 && <SmallButton text="Fold all" onClick={() => (open.value = new Set())} />}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable by keyboard */}
      <section class="sheet" tabIndex={0} aria-label={`${label}: picture`}>
        <div style={{ width: `${graph.width}px`, height: `${graph.height}px` }}>
          <svg width={graph.width} height={graph.height} aria-hidden="true">
            {graph.edges.map(({ from, to }) => (
              <path
                key={`${from.id} ${to.id}`}
                class={chosen === from.id || chosen === to.id ? 'on' : undefined}
                d={line(from, to)}
              />
            ))}
          </svg>
          {graph.nodes.map((node) => (
            <button
              key={node.id}
              type="button"
              class={`node ${node.tone ?? ''}${node.group ? ' group' : ''}`}
              aria-pressed={node.group ? undefined : node.id === chosen}
              aria-expanded={node.group ? false : undefined}
              title={node.id}
              style={{ left: `${node.x}px`, top: `${node.y}px`, width: `${nodeWidth}px`, height: `${nodeHeight}px` }}
              onClick={() => press(node)}
            >
              <span>{node.label}</span>
              {(node.count > 1 || node.group) && <span class="soft"> × {node.count}</span>}
            </button>
          ))}
        </div>
      </section>
    </section>
  );
};

const line = (from: GraphNode, to: GraphNode): string => {
  const [x1, y1] = [from.x + nodeWidth, from.y + nodeHeight / 2];
  const [x2, y2] = [to.x, to.y + nodeHeight / 2];
  const bend = Math.max(30, Math.abs(x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}m-5-3l5 3l-5 3`;
};

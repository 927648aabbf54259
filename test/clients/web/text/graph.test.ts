import { describe, expect, it } from 'vitest';
import { graphOf } from '#clients/web/text/graph.ts';

const of = (...addresses: string[]) => addresses.map((address) => ({ address }));

const edges = ({ edges: all }: ReturnType<typeof graphOf>) => all.map(({ from, to }) => `${from.id} > ${to.id}`).sort();

describe('a graph of resources', () => {
  it('folds modules and instances, and unfolds them', () => {
    const resources = of('a.key', 'module.m["x"].a.one[0]', 'module.m["x"].a.one[1]', 'module.m["y"].a.two');
    const needs = { 'module.m.a.one': ['a.key'], 'module.m.a.two': ['module.m.a.one'] };
    const folded = graphOf(resources, needs, new Set());
    expect(folded.nodes.map(({ id, count, group }) => [id, count, group])).toEqual([
      ['a.key', 1, false],
      ['module.m', 3, true],
    ]);
    expect(edges(folded)).toEqual(['a.key > module.m']);
    const unfolded = graphOf(resources, needs, new Set(['module.m']));
    expect(unfolded.nodes.map(({ label, count }) => [label, count])).toEqual([
      ['a.key', 1],
      ['a.one', 2],
      ['a.two', 1],
    ]);
    expect(unfolded.nodes.map(({ x }) => x)).toEqual(
      [...new Set(unfolded.nodes.map(({ x }) => x))].sort((a, b) => a - b),
    );
  });

  it('omits indirect dependencies', () => {
    const needs = { 'a.two': ['a.one'], 'a.three': ['a.one', 'a.two'] };
    expect(edges(graphOf(of('a.one', 'a.two', 'a.three'), needs, new Set()))).toEqual([
      'a.one > a.two',
      'a.two > a.three',
    ]);
  });

  it('folds 300 resources of one type into one node, and handles cycles of modules', () => {
    const many = Array.from({ length: 300 }, (_, i) => ({ address: `a.n${i}` }));
    expect(graphOf(many, {}, new Set()).nodes).toHaveLength(1);
    expect(graphOf(many, {}, new Set([' a'])).nodes).toHaveLength(300);
    const needs = { 'module.a.x.one': ['module.b.x.one'], 'module.b.x.two': ['module.a.x.two'] };
    const both = of('module.a.x.one', 'module.a.x.two', 'module.b.x.one', 'module.b.x.two');
    expect(edges(graphOf(both, needs, new Set()))).toEqual(['module.a > module.b', 'module.b > module.a']);
  });
});

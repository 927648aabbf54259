import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Engine, EvaluationRequest, SourceFile } from '#resources/policies/engine/engine.ts';
import { openOpa } from '#resources/policies/engine/opa.ts';
import { isPure } from '#resources/policies/engine/pure-builtins.ts';

const folder = mkdtempSync(join(tmpdir(), 'opa-test-'));
// A folder of its own, so that leftover files can only come from here.
process.env.TMPDIR = folder;
const input = { path: join(folder, 'input.json') };
const opa: Engine = await openOpa(inject('opa'));
writeFileSync(input.path, JSON.stringify({ plan: { resource_changes: [{ address: 'a.b' }] }, run: { id: 'run-x' } }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const limits = () => ({ seconds: 20, memoryMiB: 512, outputBytes: 100_000, deadline: Date.now() + 60_000 });
const ask = (rego: string | SourceFile[], queries: string | string[], change: Partial<EvaluationRequest> = {}) =>
  opa.evaluate({
    files: typeof rego === 'string' ? [{ path: 'policy.rego', content: rego }] : rego,
    policies: [queries].flat().map((query, i) => ({ name: `p${i}`, query })),
    parameters: {},
    input,
    toolVersion: '',
    limits: limits(),
    ...change,
  });
const one = async (rego: string, query = 'data.t.deny', change: Partial<EvaluationRequest> = {}) =>
  (await ask(rego, query, change)).answers[0] as { value?: unknown; error?: string };

describe('OPA', () => {
  it('prints its version', () => expect(opa.version).toMatch(/^\d+\.\d+\.\d+$/));

  it('sees the plan, the run and the parameters', async () => {
    const rego = `package t
deny contains msg if {
  some r in input.plan.resource_changes
  msg := sprintf("%s %s %s", [r.address, input.run.id, data.params.suffix])
}`;
    expect(await one(rego, 'data.t.deny', { parameters: { suffix: 'é"' } })).toEqual({ value: ['a.b run-x é"'] });
  });

  it('loads every file of the set together, and data', async () => {
    const files = [
      { path: 'a/policy.rego', content: 'package t\nimport data.lib\ndeny := lib.limits' },
      { path: 'lib/lib.rego', content: 'package lib\nlimits := data.config.limits' },
      { path: 'config/data.json', content: '{"limits": ["x"]}' },
    ];
    expect((await ask(files, 'data.t.deny')).answers).toEqual([{ value: ['x'] }]);
  });

  it.each([
    ['data.json', '{"params": {"suffix": "x", "other": ["kept"]}, "a": 1}'],
    ['data.yaml', 'params:\n  suffix: x\n  other: [kept]\na: 1\n'],
    ['params/data.json', '{"suffix": "x", "other": ["kept"]}'],
  ])('lets parameters replace those in %s', async (path, content) => {
    const files = [
      { path: 'policy.rego', content: 'package t\ndeny := [data.params.suffix, data.params.other[0]]' },
      { path, content },
      { path: 'more/data.json', content: '{"b": 2}' },
    ];
    const { answers } = await ask(files, ['data.t.deny', 'data.more.b'], { parameters: { suffix: 'z' } });
    expect(answers).toEqual([{ value: ['z', 'kept'] }, { value: 2 }]);
    expect((await ask(files, 'data.t.deny')).answers).toEqual([{ value: ['x', 'kept'] }]);
  });

  it('replaces data.params that is not an object', async () => {
    const files = [
      { path: 'policy.rego', content: 'package t\ndeny := [data.params.suffix]' },
      { path: 'data.json', content: '{"params": 1}' },
    ];
    expect((await ask(files, 'data.t.deny', { parameters: { suffix: 'z' } })).answers).toEqual([{ value: ['z'] }]);
  });

  it('compiles what it would evaluate, and evaluates nothing', async () => {
    const compile = (content: string, ...queries: string[]) =>
      opa.compile?.({
        files: [{ path: 'policy.rego', content }],
        policies: queries.map((query) => ({ name: 'p', query })),
        parameters: {},
        toolVersion: '',
        limits: { ...limits(), seconds: 5 },
      });
    const endless = 'package t\ndeny := count([x | some x in numbers.range(1, 1000000000000)])';
    expect(await compile(endless, 'data.t.deny', 'data.t.other')).toBeUndefined();
    expect(await compile('package t\ndeny := x', 'data.t.deny')).toBe('policy.rego line 2: var x is unsafe');
    expect(await compile(endless, 'data.t.deny', 'data.t.')).toMatch(/^query data\.t\.: /);
    expect(await compile('package t\ndeny := opa.runtime()', 'data.t.deny')).toContain(
      'undefined function opa.runtime',
    );
    const schemas = '# METADATA\n# schemas:\n#   - input: {"type": "string"}\npackage t\ndeny := []';
    expect(await compile(schemas, 'data.t.deny')).toContain('schemas in annotations are not available');
  });

  it('evaluates all policies together, and one by one when one of them fails', async () => {
    const rego = 'package t\na := ["x"]\nb contains "y" if false\nc := v if { some v in [1, 2] }\nd if false';
    const { answers } = await ask(rego, ['data.t.a', 'data.t.b', 'data.t.d']);
    expect(answers.slice(0, 2)).toEqual([{ value: ['x'] }, { value: [] }]);
    expect(answers[2]).toEqual({ error: expect.stringContaining('data.t.d is undefined') });
    const spoiled = (await ask(rego, ['data.t.a', 'data.t.c', 'this is no query('])).answers as { error?: string }[];
    expect(spoiled[0]).toEqual({ value: ['x'] });
    expect(spoiled[1]?.error).toMatch(/policy.rego line 4: complete rules must not produce multiple outputs/);
    expect(spoiled[2]?.error).toMatch(/rego_parse_error|unexpected|expected/);
  });

  it('accepts Rego before 1.0 in sets with an older version', async () => {
    const old = 'package t\ndeny[msg] { msg := "old" }';
    expect(await one(old, 'data.t.deny', { toolVersion: '0.44.0' })).toEqual({ value: ['old'] });
    expect((await one(old)).error).toMatch(/policy.rego line 2: .*policy-tool-version/);
  });

  it('warns of functions that failed', async () => {
    const { answers, warnings } = await ask('package t\ndeny contains "x" if to_number("a") == 1', 'data.t.deny');
    expect(answers).toEqual([{ value: [] }]);
    expect(warnings).toEqual([expect.stringMatching(/^policy.rego line 2: to_number/)]);
  });
});

describe('a policy that misbehaves', () => {
  it.each([
    ['http.send', 'resp := http.send({"method": "get", "url": "http://127.0.0.1:1/"})'],
    ['opa.runtime', 'resp := opa.runtime().env'],
    ['net.lookup_ip_addr', 'resp := net.lookup_ip_addr("localhost")'],
    ['json.match_schema', 'resp := json.match_schema({}, {"$ref": "file:///etc/passwd"})'],
    ['json.verify_schema', 'resp := json.verify_schema({"$ref": "file:///etc/passwd"})'],
  ])('cannot use %s', async (name, rule) => {
    const { error } = await one(`package t\n${rule}\ndeny contains "x" if resp`);
    expect(error).toMatch(`policy.rego line 2: undefined function ${name}`);
    expect(error).toContain('Use input instead');
    expect((await one('package t', `${rule}`)).error).toContain('undefined function');
  });

  it('can use all other functions of OPA', () => {
    const listed = execFileSync(inject('opa'), ['capabilities', '--current'], { encoding: 'utf8' });
    const { builtins } = JSON.parse(listed) as { builtins: { name: string }[] };
    expect(builtins.map(({ name }) => name).filter((name) => !isPure(name))).toEqual([
      'http.send',
      'json.match_schema',
      'json.verify_schema',
      'net.lookup_ip_addr',
      'opa.runtime',
    ]);
  });

  describe('with a reference in a schema', () => {
    let asked = 0;
    const listener = createServer((_, response) => {
      asked++;
      response.end('{"type": "object"}');
    });
    const secret = join(folder, 'secret.json');
    let places: string[];
    beforeAll(async () => {
      await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
      writeFileSync(secret, '{"properties": {"plan": {"type": "string"}}}');
      const { port } = listener.address() as AddressInfo;
      places = [`http://127.0.0.1:${port}/schema.json`, `file://${secret}`, `file://${folder}/nothing.json`];
    });
    afterAll(() => {
      listener.close();
      rmSync(secret);
    });

    const inFunction = (place: string) =>
      one(`package t\ndeny contains e if [_, e] := json.match_schema(input, {"$ref": "${place}"})`);
    const annotations = [
      (place: string) => `# schemas:\n#   - input: {"$ref": "${place}"}`,
      (place: string) => `# {"sch\\u0065mas": [{"input": {"\\x24ref": "${place}"}}]}`,
      (place: string) => `# schemas:\n#   - input: {"$id": "${place}", "$ref": "#/x"}`,
    ];

    it('reaches neither network nor files', async () => {
      for (const place of places) {
        expect((await inFunction(place)).error).toContain('undefined function json.match_schema');
        for (const annotation of annotations) {
          const rego = `# METADATA\n${annotation(place)}\npackage t\ndeny contains "x" if input.plan.nothing`;
          const { error } = await one(rego);
          expect(error).toMatch(/^policy\.rego line \d+: schemas in annotations are not available to policies/);
        }
      }
      expect(asked).toBe(0);
    });

    it('does not stop a policy that reads its own annotations', async () => {
      const rego = `package t
# METADATA
# title: No schemas here
deny contains rego.metadata.rule().title if true`;
      expect(await one(rego)).toEqual({ value: ['No schemas here'] });
    });
  });

  it('is stopped when it loops', async () => {
    const all = 'numbers.range(1, 1000000)';
    const rego = `package t\ndeny contains "x" if { some a in ${all}; some b in ${all}; a * b == 0 }`;
    const { error } = await one(rego, 'data.t.deny', { limits: { ...limits(), seconds: 1 } });
    expect(error).toMatch(/did not finish within 1 s/);
  });

  it('is stopped at the time limit of the run', async () => {
    const late = { limits: { ...limits(), deadline: Date.now() - 1 } };
    expect((await one('package t\ndeny := []', 'data.t.deny', late)).error).toContain('time');
  });

  it('is stopped at the memory limit', async () => {
    const rego = `package t
deny contains count(all) if all := [s | some i in numbers.range(1, 20000000); s := sprintf("%d-%s", [i, "${'a'.repeat(100)}"])]`;
    const { error } = await one(rego, 'data.t.deny', { limits: { ...limits(), memoryMiB: 64 } });
    expect(error).toMatch(/more than 64 MiB/);
  });

  it('is limited in output', async () => {
    const { error } = await one('package t\ndeny := [sprintf("%d", [i]) | some i in numbers.range(1, 100000)]');
    expect(error).toMatch(/more than 100000 bytes/);
  });

  it.each([
    ['is no Rego', 'this is no rego {{', /policy.rego line 1: /],
    ['names a missing rule', 'package t\ndeny contains x if x := nothing.here', /policy.rego line 2: .*unsafe/],
    ['is in another package', 'package other\ndeny := []', /data.t.deny is undefined/],
    ['takes the place of the parameters', 'package params\nx := 1', /./],
  ])('%s', async (_, rego, expected) => expect((await one(rego)).error).toMatch(expected));

  it('is not read as an option', async () => {
    expect((await one('package t\ndeny := []', '--help')).error).toBeDefined();
  });

  it.each([
    ['no JSON', [{ path: 'data.json', content: '{' }]],
    ['no JSON with parameters', [{ path: 'data.json', content: '{"params"' }]],
    ['no YAML', [{ path: 'a/data.yaml', content: 'a: [' }]],
    ['two documents at one place', ['json', 'yaml'].map((type) => ({ path: `data.${type}`, content: '{"a": 1}' }))],
    ['no Rego with annotations', [{ path: 'a.rego', content: '# METADATA\n# title: x\nnothing {{' }]],
    ['a file as a folder', ['a.rego', 'a.rego/b.rego'].map((path) => ({ path, content: 'package a' }))],
  ])('shows no path of the platform for %s', async (_, files) => {
    const policy = { path: 'policy.rego', content: 'package t\ndeny := []' };
    const [answer] = (await ask([policy, ...files], 'data.t.deny')).answers as { error: string }[];
    expect(answer?.error).toMatch(/\w{5}/);
    expect(answer?.error).not.toContain(folder);
    expect(answer?.error).not.toContain(tmpdir());
  });

  it('leaves nothing behind', async () => {
    await one('no rego');
    expect(readdirSync(folder)).toEqual(['input.json']);
  });
});

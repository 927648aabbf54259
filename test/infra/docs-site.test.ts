import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { posix } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { type Entry, find, indexOf } from '#clients/docs/find.ts';
import { pictures } from '#infra/docs/generate.ts';
import { buildSite } from '#infra/docs/site/build.ts';
import { render } from '#infra/docs/site/markdown.ts';
import { readPages } from '#infra/docs/site/pages.ts';
import { queries } from './docs-queries.ts';

/** The documentation as a site. */

const { files, packages } = await buildSite();
const pages = Object.entries(files).filter(([path]) => path.endsWith('.html'));
const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found = '']) => found);
const idsOf = (html: string): string[] => all(html, / id="([^"]+)"/g);

it('has every page for users in its navigation', () => {
  const menu = /<nav class="menu".*?<\/nav>/s.exec(files['index.html'] ?? '')?.[0] ?? '';
  const linked = all(menu, /href="([^"]+)"/g);
  const sources = globSync('infra/docs/{,tutorials/}*.md').map((path) => path.replaceAll('\\', '/'));
  expect(sources.length).toBeGreaterThan(40);
  const expected = sources.map((path) =>
    path
      .slice('infra/docs/'.length)
      .replace(/README\.md$/, 'index.html')
      .replace(/\.md$/, '.html'),
  );
  const elsewhere = ['index.html'];
  expect(expected.filter((path) => !linked.includes(path) && !elsewhere.includes(path))).toEqual([]);
});

it('links only to files and headings that it has, by relative addresses', () => {
  expect(pages.length).toBeGreaterThan(150);
  for (const [path, html] of pages) {
    for (const link of all(html, /(?:href|src)="([^"]+)"/g)) {
      if (/^(https?|mailto):/.test(link)) continue;
      const [file = '', anchor = ''] = link.split('#');
      const target = file ? posix.join(posix.dirname(path), file) : path;
      expect(Object.hasOwn(files, target), `${path}: ${link}`).toBe(true);
      if (anchor) expect(idsOf(files[target] ?? ''), `${path}: ${link}`).toContain(anchor);
    }
  }
});

it('gives each element of a page an id of its own, and has no inline script or style', () => {
  for (const [path, html] of pages) {
    const ids = idsOf(html);
    expect([...new Set(ids)].length, path).toBe(ids.length);
    expect(html, path).not.toMatch(/<script(?![^>]*\bsrc=)|<style|<[^>]*\sstyle=|<[^>]*\son\w+=/);
  }
});

it('shows every picture of its Markdown, small and with a text for those who do not see it', () => {
  const shown = pages.flatMap(([path, html]) =>
    [...html.matchAll(/<img src="([^"]+)" alt="([^"]*)">/g)].map(([, source = '', text = '']) => ({
      path: posix.join(posix.dirname(path), source),
      text,
    })),
  );
  const pictures = globSync('infra/docs/pictures/*.{svg,webp}').map((path) => path.slice('infra/docs/'.length));
  expect([...new Set(shown.map(({ path }) => path))].sort()).toEqual(pictures.sort());
  for (const { path, text } of shown) {
    expect(text.length, path).toBeGreaterThan(30);
    expect((files[path] ?? '').length, path).toBeLessThan(40_000);
  }
});

it('has drawn pictures as they are described: npm run docs', () => {
  for (const [file, svg] of pictures()) expect(readFileSync(file, 'utf8'), file).toBe(svg);
});

it('draws diagrams, with the text of each below', () => {
  const drawings = pages.flatMap(([path, html]) => all(html, /<svg\b.*?>/gs).map(() => path));
  expect(drawings).toEqual(expect.arrayContaining(['concepts.html', 'architecture.html']));
  expect(
    pages
      .filter(([, html]) => /<pre[^>]*><code>(?:flowchart|graph|sequenceDiagram)/.test(html))
      .map(([path]) => path)
      .sort(),
  ).toEqual([...new Set(drawings)].sort());
  expect(files['concepts.html']).toMatch(/<text[^>]*>Queue of the workspace</);
});

it('refuses pictures that are missing or elsewhere', () => {
  const withPicture = (href: string): (() => unknown) => {
    const root = mkdtempSync(`${tmpdir()}/docs-`);
    mkdirSync(`${root}/infra/docs`, { recursive: true });
    writeFileSync(`${root}/elsewhere.ts`, '');
    writeFileSync(`${root}/infra/docs/README.md`, `# Documentation\n\n![Form](${href})\n`);
    return () => {
      try {
        return readPages(root);
      } finally {
        rmSync(root, { recursive: true });
      }
    };
  };
  expect(withPicture('pictures/none.svg')).toThrow('pictures/none.svg does not exist');
  expect(withPicture('../../elsewhere.ts')).toThrow('is not below infra/docs');
});

it('refuses links to headings that do not exist', () => {
  const text = '# Page\n\nSee [below](#part).\n\n## Other part\n';
  expect(render(text, { link: (href) => href, picture: (href) => href }).anchors).toEqual(new Set(['', 'other-part']));
  expect(() => readPages(emptyFolder)).toThrow('infra/docs/README.md');
});

it('searches in all pages but lists and records', () => {
  const entries = JSON.parse(files['search.json'] ?? '') as [path: string, anchor: string][];
  const searched = new Set(entries.map(([path]) => path));
  expect(searched.has('tutorials/one-machine.html')).toBe(true);
  expect([...searched].filter((path) => /^decisions\//.test(path))).toEqual([]);
  for (const [path, anchor] of entries) if (anchor) expect(idsOf(files[path] ?? ''), path).toContain(anchor);
});

it('finds the right page first for what readers of each kind search', () => {
  const entries = JSON.parse(files['search.json'] ?? '') as Entry[];
  const index = indexOf(entries);
  const wrong = Object.values(queries)
    .flatMap((pages) => Object.entries(pages))
    .flatMap(([expected, list]) => list.map((words) => ({ expected: expected.split('|'), words })))
    .flatMap(({ expected, words }) => {
      const [first] = find(index, words).map(({ id }) => entries[id]?.[0] ?? '');
      return expected.includes(first ?? '') ? [] : [`${words}: ${first} instead of ${expected}`];
    });
  expect(wrong).toEqual([]);
});

it('weighs little: a page with style, script and search at most 150 KB, and names the licences of its packages', () => {
  const sizeOf = (pattern: RegExp) =>
    Buffer.byteLength(Object.entries(files).find(([path]) => pattern.test(path))?.[1] ?? '');
  expect(sizeOf(/\.js$/)).toBeGreaterThan(1000);
  expect(sizeOf(/\.js$/) + sizeOf(/\.css$/)).toBeLessThan(40_000);
  expect(packages).toEqual(['node_modules/minisearch']);
  const [licenses = ''] = Object.keys(files).filter((path) => path.includes('licenses'));
  expect(files[licenses]).toContain('minisearch');
});

const emptyFolder = mkdtempSync(`${tmpdir()}/docs-`);
afterAll(() => rmSync(emptyFolder, { recursive: true }));

import { isPropertyAssignment, isShorthandPropertyAssignment } from 'typescript/unstable/ast/is';
import type { Project } from 'typescript/unstable/sync';
import { documentIn, filesOf, visit } from './syntax.ts';
import { type Schema, schemaOf } from './types.ts';

/** Schemas of the resources that the source writes. */

/** Attributes of both: those that one of them lacks are optional. */
const merged = (a: Schema, b: Schema): Schema => {
  const properties = { ...a.properties };
  for (const [name, schema] of Object.entries(b.properties ?? {})) {
    const other = properties[name];
    const isSame = other === undefined || JSON.stringify(other) === JSON.stringify(schema);
    properties[name] = isSame ? schema : { anyOf: [...(other.anyOf ?? [other]), schema] };
  }
  const required = (a.required ?? []).filter((name) => b.required?.includes(name));
  return { type: 'object', properties, ...(required.length ? { required } : {}) };
};

/** Every object with a `type` and `attributes` in the source is a document. */
export const resourceSchemas = (project: Project): Record<string, Schema> => {
  const { checker } = project;
  const found: Record<string, Schema> = {};
  for (const file of filesOf(project))
    visit(file, (node) => {
      const { types, attributes } = documentIn(project, node) ?? {};
      if (!types || !attributes) return;
      const shorthand =
        isShorthandPropertyAssignment(attributes) && checker.getShorthandAssignmentValueSymbol(attributes);
      const value = shorthand
        ? checker.getTypeOfSymbol(shorthand)
        : isPropertyAssignment(attributes) && checker.getTypeAtLocation(attributes.initializer);
      if (!value) return;
      const schema = schemaOf(checker, value);
      for (const type of types) found[type] = found[type] ? merged(found[type], schema) : schema;
    });
  return found;
};

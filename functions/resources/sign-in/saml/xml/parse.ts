import { DOMParser, type XmlElement } from '@xmldom/xmldom';
import { SamlError } from '../error.ts';

/**
 * Reads XML of other parties. All of it is refused that has no use in SAML and is known from attacks: document types
 * with their entities, comments and CDATA sections that split texts, processing instructions, excessive sizes.
 */

const limits = { characters: 400_000, elements: 3000, depth: 40 };

const elementType = 1;

const isElement = (node: { nodeType: number }): node is XmlElement => node.nodeType === elementType;

export const childrenOf = (element: XmlElement): XmlElement[] => Array.from(element.childNodes).filter(isElement);

/** The element and all elements in it, in no defined order. @throws {SamlError} for a structure beyond the limits */
export const elementsIn = (root: XmlElement): XmlElement[] => {
  const found: XmlElement[] = [];
  for (let [level, depth] = [[root], 0]; level.length > 0; depth++) {
    found.push(...level);
    if (depth > limits.depth || found.length > limits.elements)
      throw new SamlError('it is nested too deep or too large');
    level = level.flatMap(childrenOf);
  }
  return found;
};

/** `<!` begins only refused constructs: the character `<` is escaped in texts and attributes. */
const refused = { message: /<!|<\?(?!xml\s)/, metadata: /<!(?!--)|<\?(?!xml\s)/ };

/**
 * @param kind metadata may contain comments, because people edit it
 * @returns the root element
 * @throws {SamlError}
 */
export const parseXml = (text: string, kind: keyof typeof refused = 'message'): XmlElement => {
  if (text.length > limits.characters) throw new SamlError('it is too large');
  if (refused[kind].test(text)) {
    throw new SamlError('it contains a document type, a comment, a CDATA section or a processing instruction');
  }
  const problems: string[] = [];
  const parser = new DOMParser({ errorHandler: (level, message) => problems.push(`${level}: ${message}`) });
  let root: XmlElement | null | undefined;
  try {
    root = parser.parseFromString(text, 'text/xml')?.documentElement;
  } catch (error) {
    problems.push(String(error));
  }
  if (problems.length > 0 || !root) throw new SamlError('it is not well-formed XML');
  elementsIn(root);
  return root;
};

/** Line ends as an XML processor delivers them (XML 1.0 §2.11), so that everyone reads the same text. */
export const withPlainLineEnds = (text: string): string => text.replaceAll(/\r\n?/g, '\n');

export const namespaces = {
  protocol: 'urn:oasis:names:tc:SAML:2.0:protocol',
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion',
  metadata: 'urn:oasis:names:tc:SAML:2.0:metadata',
  signature: 'http://www.w3.org/2000/09/xmldsig#',
  encryption: 'http://www.w3.org/2001/04/xmlenc#',
} as const;

type Namespace = keyof typeof namespaces;

export const isNamed = (element: XmlElement, namespace: Namespace, name: string): boolean =>
  element.localName === name && element.namespaceURI === namespaces[namespace];

/** Children with this name. */
export const listOf = (element: XmlElement, namespace: Namespace, name: string): XmlElement[] =>
  childrenOf(element).filter((child) => isNamed(child, namespace, name));

/** The only child with this name; undefined if there is none. @throws {SamlError} if there are several */
export const oneOf = (element: XmlElement, namespace: Namespace, name: string): XmlElement | undefined => {
  const [first, second] = listOf(element, namespace, name);
  if (second) throw new SamlError(`it has several elements ${name}`);
  return first;
};

/** @throws {SamlError} if there is none, or several */
export const neededOf = (element: XmlElement, namespace: Namespace, name: string): XmlElement => {
  const child = oneOf(element, namespace, name);
  if (!child) throw new SamlError(`it has no element ${name}`);
  return child;
};

export const attributeOf = (element: XmlElement, name: string): string | undefined =>
  element.hasAttribute(name) ? element.getAttribute(name) : undefined;

/** The text of an element without child elements. @throws {SamlError} for any other */
export const textIn = (element: XmlElement): string => {
  if (childrenOf(element).length > 0) throw new SamlError(`the element ${element.localName} contains elements`);
  return (element.textContent ?? '').trim();
};

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** For texts and attributes of XML. */
export const escapedXml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => entities[character] as string);

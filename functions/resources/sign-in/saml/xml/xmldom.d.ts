/**
 * The part of @xmldom/xmldom that is used here. Its own declarations would bring the browser's globals into the
 * functions (functions/tsconfig.json: paths).
 */

export interface XmlNode {
  readonly nodeType: number;
  readonly childNodes: ArrayLike<XmlNode>;
  readonly parentNode: XmlNode | null;
  readonly textContent: string | null;
  /** As XML, with the namespaces that it uses. */
  toString(): string;
}

export interface XmlAttribute {
  readonly name: string;
  readonly localName: string;
  readonly value: string;
}

export interface XmlElement extends XmlNode {
  readonly localName: string;
  readonly namespaceURI: string | null;
  readonly attributes: ArrayLike<XmlAttribute>;
  hasAttribute(name: string): boolean;
  getAttribute(name: string): string;
}

export interface XmlDocument extends XmlNode {
  readonly documentElement: XmlElement | null;
}

export class DOMParser {
  constructor(options: { errorHandler(level: string, message: string): void });
  parseFromString(text: string, mediaType: string): XmlDocument;
}

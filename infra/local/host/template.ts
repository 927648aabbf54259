import { StartError } from './errors.ts';
import type { Home } from './home.ts';
import { apiUrlOf, type Names, nameResource } from './names.ts';

/** The parts of a synthesized CloudFormation template that the local platform reads. */
export interface Template {
  Resources: Record<string, TemplateResource>;
  Parameters?: Record<string, { Default?: unknown }>;
  Conditions?: Record<string, unknown>;
  Mappings?: Record<string, Record<string, Record<string, unknown>>>;
}

export interface TemplateResource {
  Type: string;
  Properties?: Record<string, unknown>;
  Condition?: string;
}

export interface Resource<P = Record<string, unknown>> {
  /** Logical id. */
  id: string;
  type: string;
  /** Value of `Ref`. */
  ref: string;
  arn: string;
  properties: P;
}

type Json = Record<string, unknown>;

const nothing = Symbol('AWS::NoValue');

/**
 * Resolves a synthesized template as if it were deployed on this machine: references become stable local names and ARNs
 * derived from logical ids, and endpoints of APIs become those of `home`. A resource is resolved on demand, so that
 * resources that exist only on AWS (alarms, dashboards) may use values that exist only there. Throws StartError that
 * names a resource that cannot be resolved.
 */
export class Stack {
  readonly #template: Template;
  readonly #home: Home;
  readonly #nameResource: typeof nameResource;
  readonly #conditions = new Map<string, boolean>();

  /** @param names of the resources, by default those on this machine */
  constructor(template: Template, home: Home, names = nameResource) {
    this.#template = template;
    this.#home = home;
    this.#nameResource = names;
  }

  /** Every resource of a type, in the order of the template, without those whose condition is false. */
  all<P = Json>(type: string): Resource<P>[] {
    return Object.entries(this.#template.Resources)
      .filter(([, r]) => r.Type === type && (r.Condition === undefined || this.#condition(r.Condition)))
      .map(([id]) => this.get<P>(id));
  }

  /** The only resource of a type. */
  one<P = Json>(type: string): Resource<P> {
    const [first, ...more] = this.all<P>(type);
    if (!first || more.length) throw new StartError(`the template has ${first ? 1 + more.length : 0} ${type}, not 1`);
    return first;
  }

  get<P = Json>(id: string): Resource<P> {
    const resource = this.#template.Resources[id];
    if (!resource) throw new StartError(`the template has no resource ${id}`);
    const names = this.#names(id);
    try {
      const properties = this.resolve(resource.Properties ?? {}) as P;
      return { id, type: resource.Type, ref: names.ref, arn: names.attributes.Arn ?? names.ref, properties };
    } catch (error) {
      throw new StartError(`${resource.Type} ${id}: ${(error as Error).message}`, { cause: error });
    }
  }

  /** A copy in which values replace every intrinsic function. */
  resolve(value: unknown): unknown {
    const result = this.#resolve(value);
    return result === nothing ? undefined : result;
  }

  #resolve(value: unknown): unknown {
    if (typeof value === 'string') return this.#localUrl(value);
    if (Array.isArray(value)) return value.map((v) => this.#resolve(v)).filter((v) => v !== nothing);
    if (value === null || typeof value !== 'object') return value;
    const entries = Object.entries(value);
    const [only] = entries;
    if (only && entries.length === 1 && (only[0] === 'Ref' || only[0].startsWith('Fn::')))
      return this.#intrinsic(only[0], only[1]);
    return Object.fromEntries(entries.map(([k, v]) => [k, this.#resolve(v)] as const).filter(([, v]) => v !== nothing));
  }

  #intrinsic(name: string, argument: unknown): unknown {
    if (name === 'Ref') return this.#ref(argument as string);
    if (name === 'Fn::GetAtt') {
      const [id, ...attribute] = Array.isArray(argument) ? argument : String(argument).split('.');
      return this.#attribute(id, attribute.join('.'));
    }
    if (name === 'Fn::Sub') return this.#sub(argument as string | [string, Json]);
    if (name === 'Fn::If') {
      const [condition, yes, no] = argument as [string, unknown, unknown];
      return this.#resolve(this.#condition(condition) ? yes : no);
    }
    const resolved = this.#resolve(argument) as unknown[];
    switch (name) {
      case 'Fn::Join':
        return this.#localUrl((resolved[1] as string[]).join(resolved[0] as string));
      case 'Fn::Select':
        return (resolved[1] as unknown[])[Number(resolved[0])];
      case 'Fn::Split':
        return (resolved[1] as string).split(resolved[0] as string);
      case 'Fn::FindInMap': {
        const [map, first, second] = resolved as [string, string, string];
        const found = this.#template.Mappings?.[map]?.[first]?.[second];
        if (found === undefined) throw new StartError(`mapping ${map}.${first}.${second} does not exist`);
        return found;
      }
      case 'Fn::GetAZs':
        return ['a', 'b', 'c'].map((zone) => `${this.#home.region}${zone}`);
      case 'Fn::Base64':
        return Buffer.from(String(resolved)).toString('base64');
      default:
        throw new StartError(`${name} is not supported by the local platform`);
    }
  }

  #ref(id: string): unknown {
    switch (id) {
      case 'AWS::NoValue':
        return nothing;
      case 'AWS::AccountId':
        return this.#home.accountId;
      case 'AWS::Region':
        return this.#home.region;
      case 'AWS::Partition':
        return this.#home.partition ?? 'aws';
      case 'AWS::URLSuffix':
        return 'amazonaws.com';
      case 'AWS::StackName':
        return this.#home.stackName ?? 'stepform';
      case 'AWS::StackId':
        return `arn:aws:cloudformation:${this.#home.region}:${this.#home.accountId}:stack/stepform/local`;
      default:
    }
    const parameter = this.#template.Parameters?.[id];
    if (!parameter) return this.#names(id).ref;
    if (parameter.Default === undefined) throw new StartError(`parameter ${id} has no default`);
    return parameter.Default;
  }

  #attribute(id: string, attribute: string): string {
    const value = this.#names(id).attributes[attribute];
    if (value === undefined)
      throw new StartError(
        `${this.#template.Resources[id]?.Type} ${id} has no attribute ${attribute} on one machine (infra/local/host/names.ts)`,
      );
    return value;
  }

  #names(id: string): Names {
    const resource = this.#template.Resources[id];
    if (!resource) throw new StartError(`the template has no resource or parameter ${id}`);
    return this.#nameResource(id, resource.Type, this.#home, (name) => this.resolve(resource.Properties?.[name]));
  }

  #sub(argument: string | [string, Json]): string {
    const [text, variables] = Array.isArray(argument) ? argument : [argument, {}];
    const result = text.replaceAll(/\$\{(!?)([^}]+)\}/g, (_, literal: string, name: string) => {
      if (literal) return `\${${name}}`;
      if (Object.hasOwn(variables, name)) return String(this.#resolve(variables[name]));
      const [id = '', ...attribute] = name.split('.');
      return String(attribute.length ? this.#attribute(id, attribute.join('.')) : this.#ref(name));
    });
    return this.#localUrl(result);
  }

  /** Templates also build the endpoint from the API's id; it becomes the same URL. */
  #localUrl(text: string): string {
    if (!text.includes('.execute-api.')) return text;
    return text.replaceAll(/https:\/\/([^/.]+)\.execute-api\.[^/]+\.amazonaws\.com/g, (_, ref: string) =>
      this.#urlOfApi(ref),
    );
  }

  #urlOfApi(ref: string): string {
    const id = Object.entries(this.#template.Resources).find(
      ([id, { Type }]) => Type === 'AWS::ApiGatewayV2::Api' && nameResource(id, Type, this.#home).ref === ref,
    )?.[0];
    if (id === undefined) return this.#home.apiUrl;
    return apiUrlOf(id, this.#home, this.#template.Resources[id]?.Properties?.ProtocolType);
  }

  #condition(name: string): boolean {
    const known = this.#conditions.get(name);
    if (known !== undefined) return known;
    const definition = this.#template.Conditions?.[name];
    if (definition === undefined) throw new StartError(`the template has no condition ${name}`);
    const value = this.#evaluate(definition);
    this.#conditions.set(name, value);
    return value;
  }

  #evaluate(definition: unknown): boolean {
    const [name, argument] = Object.entries(definition as Json)[0] ?? ['', undefined];
    const parts = argument as unknown[];
    switch (name) {
      case 'Condition':
        return this.#condition(argument as string);
      case 'Fn::Equals':
        return this.#resolve(parts[0]) === this.#resolve(parts[1]);
      case 'Fn::Not':
        return !this.#evaluate(parts[0]);
      case 'Fn::And':
        return parts.every((part) => this.#evaluate(part));
      case 'Fn::Or':
        return parts.some((part) => this.#evaluate(part));
      default:
        throw new StartError(`condition function ${name} is not supported by the local platform`);
    }
  }
}

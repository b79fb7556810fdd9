import type { Route, StreamRoute } from '@postroom/platform';

export interface Match<Prepared> {
  /** The route of each method at this path. */
  byMethod: ReadonlyMap<string, Prepared>;
  params: Record<string, string>;
}

interface Branch<Prepared> {
  literals: Map<string, Branch<Prepared>>;
  parameter: { name: string; branch: Branch<Prepared> } | undefined;
  byMethod: Map<string, Prepared>;
}

/** Finds routes by walking path segments; literal segments take precedence over parameters. */
export class Router<Prepared extends { route: Route | StreamRoute }> {
  readonly #root: Branch<Prepared> = branch();

  constructor(prepared: readonly Prepared[]) {
    for (const each of prepared) this.#add(each);
  }

  #add(prepared: Prepared): void {
    let at = this.#root;
    for (const segment of segments(prepared.route.path)) {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1];
      if (name === undefined) {
        const next: Branch<Prepared> = at.literals.get(segment) ?? branch();
        at.literals.set(segment, next);
        at = next;
      } else {
        at.parameter ??= { name, branch: branch() };
        if (at.parameter.name !== name)
          throw new Error(
            `${prepared.route.path} names a parameter {${name}} that other routes name {${at.parameter.name}}.`,
          );
        at = at.parameter.branch;
      }
    }
    const { method, path } = prepared.route;
    if (at.byMethod.has(method)) throw new Error(`${method} ${path} is defined twice.`);
    at.byMethod.set(method, prepared);
  }

  /** The routes at a path, or undefined if there are none. */
  find(path: string): Match<Prepared> | undefined {
    const params: Record<string, string> = {};
    let at: Branch<Prepared> | undefined = this.#root;
    for (const segment of segments(path)) {
      const literal: Branch<Prepared> | undefined = at.literals.get(segment);
      if (literal === undefined && at.parameter !== undefined) {
        const value = decodeSegment(segment);
        if (value === undefined) return undefined;
        params[at.parameter.name] = value;
      }
      at = literal ?? at.parameter?.branch;
      if (at === undefined) return undefined;
    }
    return at.byMethod.size === 0 ? undefined : { byMethod: at.byMethod, params };
  }
}

const branch = () => ({ literals: new Map(), parameter: undefined, byMethod: new Map() });

const segments = (path: string) => path.split('/').slice(1);

/** Decodes a path parameter; undefined when it is empty, badly encoded or can't be an id. */
function decodeSegment(segment: string): string | undefined {
  try {
    const text = decodeURIComponent(segment);
    return text === '' || text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

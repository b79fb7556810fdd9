import type { PropertyCondition } from './definition.ts';

type Properties = Readonly<Record<string, unknown>>;

/** The value at a path such as `cart.total`; undefined if there is none. */
function propertyAt(properties: Properties, path: string): unknown {
  if (Object.hasOwn(properties, path)) return properties[path];
  let value: unknown = properties;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** Whether an event passes all conditions on its properties. */
export const matches = (properties: Properties, where: readonly PropertyCondition[] | undefined): boolean =>
  (where ?? []).every((condition) => matchesOne(propertyAt(properties, condition.property), condition));

function matchesOne(value: unknown, condition: PropertyCondition): boolean {
  switch (condition.op) {
    case 'is':
      return value === condition.value;
    case 'isNot':
      return value !== condition.value;
    case 'contains':
      return contains(value, condition.value);
    case 'notContains':
      return !contains(value, condition.value);
    case 'moreThan':
      return typeof value === 'number' && value > condition.value;
    case 'lessThan':
      return typeof value === 'number' && value < condition.value;
    case 'atLeast':
      return typeof value === 'number' && value >= condition.value;
    case 'atMost':
      return typeof value === 'number' && value <= condition.value;
    case 'isSet':
      return value != null;
    case 'isNotSet':
      return value == null;
  }
}

const contains = (value: unknown, part: string): boolean =>
  (typeof value === 'string' && value.toLowerCase().includes(part.toLowerCase())) ||
  (Array.isArray(value) && value.includes(part));

/** The properties with declared defaults for those that are missing. */
export function withDefaults(
  properties: Properties,
  defaults: readonly { name: string; value: unknown }[],
): Properties {
  const missing = defaults.filter(({ name }) => propertyAt(properties, name) === undefined);
  if (missing.length === 0) return properties;
  const filled = structuredClone(properties) as Record<string, unknown>;
  for (const { name, value } of missing) {
    const path = name.split('.');
    const last = path.pop() as string;
    let parent: Record<string, unknown> | undefined = filled;
    for (const key of path) {
      const child: unknown = Object.hasOwn(parent, key) ? parent[key] : (parent[key] = {});
      if (typeof child !== 'object' || child === null) {
        parent = undefined;
        break;
      }
      parent = child as Record<string, unknown>;
    }
    if (parent !== undefined)
      Object.defineProperty(parent, last, { value, enumerable: true, configurable: true, writable: true });
  }
  return filled;
}

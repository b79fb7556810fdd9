import { bodySchema, EVENT_TYPE_NAMES, EVENT_TYPES } from '@postroom/events';
import { type StaticFile, staticFile } from '../static.ts';

const SCHEMA = 'application/schema+json; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

/** The JSON Schema of each event's body at `/docs/events/<type>.json`, and a list of them at `/docs/events.json`. */
export function eventFiles(): Map<string, StaticFile> {
  const files = EVENT_TYPE_NAMES.map((type): [string, StaticFile] => [
    schemaPath(type),
    staticFile(SCHEMA, text({ ...bodySchema(type), title: type })),
  ]);
  const list = EVENT_TYPE_NAMES.map((type) => {
    const { fires, example } = EVENT_TYPES[type];
    return { type, fires, schema: schemaPath(type), example };
  });
  return new Map([...files, ['/docs/events.json', staticFile(JSON_TYPE, text({ data: list }))]]);
}

const schemaPath = (type: string) => `/docs/events/${type}.json`;

const text = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

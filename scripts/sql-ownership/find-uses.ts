import type { Datamodel } from './datamodel.ts';
import { prismaUses } from './prisma-uses.ts';
import { Resolver } from './resolver.ts';
import { SourceFiles, type Use } from './source-file.ts';
import { sqlUses, usesInSql } from './sql-uses.ts';

/**
 * Finds which tables each source file writes and reads: in SQL text (string constants, templates, `.sql` files) and in Prisma
 * calls, nested writes included. The module that has the table's name after the verb counts as the writer. A module that composes
 * another's exported fragment therefore writes nothing itself.
 */

/**
 * Finds the uses of tables in all files.
 * @param files source text by path; `.ts`, `.tsx` and `.sql`.
 * @param ownerOf the module of a file.
 */
export function findUses(
  files: ReadonlyMap<string, string>,
  datamodel: Datamodel,
  ownerOf: (file: string) => string,
): Use[] {
  const sources = new SourceFiles(files);
  const resolver = new Resolver(sources);
  return [...files].flatMap(([file, text]) => {
    if (file.endsWith('.sql')) return usesInSql([{ text, offset: 0 }], () => undefined, file, text, datamodel);
    const source = sources.get(file);
    if (source === undefined || !MAY_USE.test(text)) return [];
    return [...sqlUses(source, resolver, datamodel), ...prismaUses(source, resolver, datamodel, ownerOf(file))];
  });
}

/** What every file that uses a table contains. */
const MAY_USE =
  /\b(?:db|tx)\b|insert|update|delete|merge|truncate|copy|table|FROM|JOIN|create|upsert|find|count|aggregate|groupBy/i;

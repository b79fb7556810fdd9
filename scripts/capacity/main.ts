// `postroom capacity`: what a workload needs.
import { capacity } from './command.ts';

try {
  console.log(capacity(process.argv.slice(2)));
} catch (error) {
  console.error(`postroom capacity: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

// Compares two documents. Pure: reads no file and prints nothing.
import { get, type Obj, text } from './document.ts'
import { compareDocuments } from './operations.ts'
import { type Diff, summarize } from './report.ts'

/** Compares two parsed OpenAPI 3.1 documents. */
export function diffContracts(base: Obj, head: Obj): Diff {
	return summarize(versionOf(base), versionOf(head), compareDocuments(base, head))
}

function versionOf(document: Obj): string {
	return text(get(document.info, 'version')) ?? 'unknown'
}

// What tells whether a side of a link has changed.
import { createHash } from 'node:crypto'
import type { Output } from './outputs.ts'

/** 132 bits: two records of an organization never meet by chance. */
const length = 22

/** The members of an output are in the order of the mapping's fields, which is always the same. What is not there is as null. */
export const hashOf = (output: unknown): string =>
	createHash('sha256')
		.update(JSON.stringify(output ?? null))
		.digest('base64url')
		.slice(0, length)

/** The hash of those fields of a record that a mapping writes. */
export const hashOfFields = (record: Output, names: readonly string[]): string =>
	hashOf(names.map((name) => record[name] ?? null))

// How each operation is asked: the samples.ts of every folder together.
import { globSync } from 'node:fs'
import { join } from 'node:path'
import type { Operation } from '../src/contract/routes.ts'
import type { Tenant } from './harness.ts'
import type { Sample, Samples } from './sample.ts'

const src = join(import.meta.dirname, '../src')
const modules: { samples: Samples }[] = await Promise.all(
	globSync('**/samples.ts', { cwd: src }).map((file) => import(join(src, file))),
)
const samples: Samples = Object.assign({}, ...modules.map((module) => module.samples))

export function sampleOf({ id }: Operation): Sample {
	const sample = samples[id] ?? samples[id.split('.')[0] as string]
	if (!sample) throw new Error(`no samples.ts of packages/server/src says how to ask ${id}`)
	return sample
}

/** The operation's path with the record's id, or its token. */
export const pathOf = ({ path }: Operation, id: string): string => path.replace(/\{\w+\}/, () => encodeURIComponent(id))

/** A valid request for an operation, about a new record where it needs one. */
export async function newRequest(operation: Operation, tenant: Tenant): Promise<{ path: string; body: object | undefined }> {
	const { make, body } = sampleOf(operation)
	const needsOne = operation.path.includes('{') || operation.id in samples
	const id = needsOne ? await make?.(tenant) : ''
	return { path: pathOf(operation, id as string), body: operation.body === 'none' ? undefined : await body?.(tenant) }
}

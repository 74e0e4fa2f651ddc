// How each operation is asked: the samples.ts of every folder together.
import { globSync } from 'node:fs'
import { join } from 'node:path'
import type { Operation } from '../src/platform/contract/routes.ts'
import type { Tenant } from './harness.ts'
import type { Sample, Samples } from './sample.ts'

const src = join(import.meta.dirname, '../src')
const modules: { samples: Samples }[] = await Promise.all(
	globSync('**/samples.ts', { cwd: src }).map((file) => import(join(src, file))),
)
const samples: Samples = Object.assign({}, ...modules.map((module) => module.samples))

export function sampleOf({ id }: Operation): Sample {
	const parts = id.split('.')
	const sample = parts.map((_, at) => samples[parts.slice(0, parts.length - at).join('.')]).find(Boolean)
	if (!sample) throw new Error(`no samples.ts of packages/server/src says how to ask ${id}`)
	return sample
}

/** The operation's path with the record's id, or its token, or several ids where it names several records. */
export function pathOf({ path }: Operation, id: string | readonly string[]): string {
	const ids = [id].flat()
	return path.replace(/\{\w+\}/g, () => encodeURIComponent(ids.shift() ?? 'unknown'))
}

/** A valid request for an operation, about a new record where it needs one. */
export async function newRequest(operation: Operation, tenant: Tenant): Promise<{ path: string; body: object | undefined }> {
	const { make, body } = sampleOf(operation)
	const needsOne = operation.path.includes('{') || operation.id in samples
	const id = needsOne ? await make?.(tenant) : ''
	return { path: pathOf(operation, id ?? ''), body: operation.body === 'none' ? undefined : await body?.(tenant) }
}

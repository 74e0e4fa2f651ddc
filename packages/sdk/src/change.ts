// A change that goes by what is stored: read, compute, write if nobody else has written meanwhile.
import { PreconditionFailedError } from './errors.ts'

/** Other writers in a row that a change gives way to before it fails. */
const mostConflicts = 10

/** The changes to make to a record as it is now; undefined for none. */
export type ChangeOf<Current, Patch> = (current: Current) => Patch | undefined | Promise<Patch | undefined>

export async function changeRecord<Current extends { version: number }, Patch, Result>(
	read: () => PromiseLike<Current>,
	write: (patch: Patch, version: number) => PromiseLike<Result>,
	change: ChangeOf<Current, Patch>,
): Promise<Result | undefined> {
	for (let conflicts = 0; ; conflicts++) {
		const current = await read()
		const patch = await change(current)
		if (patch === undefined) return undefined
		try {
			return await write(patch, current.version)
		} catch (error) {
			if (!(error instanceof PreconditionFailedError) || conflicts === mostConflicts) throw error
		}
	}
}

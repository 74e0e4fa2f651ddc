// What is sent to create, change and remove a record.
import { staysBelow } from '../object-rules.ts'
import type { ObjectManifest, Writes } from '../providers/manifest.ts'
import { valueAt } from '../values.ts'
import type { ProviderRequest } from './call.ts'
import { ProviderFailed } from './types.ts'

type Data = Readonly<Record<string, unknown>>

/** Whether a record can have this id: others would lead to another path. */
export const canBeId = (id: string) => id !== '' && id.isWellFormed() && staysBelow(encodeURIComponent(id))

/** The path of one record; throws for an id that no record can have. */
export function pathOfOne(path: string, id: string): string {
	if (!canBeId(id)) throw new ProviderFailed('rejected', 'rejected', 'No record can have that id.')
	return path.replace('{id}', () => encodeURIComponent(id))
}

export function bodyOf({ envelope }: ObjectManifest, { encoding, textsBelow }: Writes, data: Data): ProviderRequest['body'] {
	const own = textsBelow === undefined ? data : { ...data, [textsBelow]: textsOf(valueAt(data, textsBelow)) }
	const whole = envelope ? { [envelope.name]: envelope.list ? [own] : own } : own
	if (encoding === 'json') return { type: 'application/json', text: JSON.stringify(whole) }
	return { type: 'application/x-www-form-urlencoded', text: new URLSearchParams(pairsOf(whole)).toString() }
}

const textsOf = (value: unknown) =>
	Object.fromEntries(Object.entries((value ?? {}) as Data).map(([name, one]) => [name, one == null ? '' : String(one)]))

/** The fields of a form in which `address[city]` is the city of the address. */
const pairsOf = (value: unknown, name = ''): [string, string][] =>
	value instanceof Object
		? Object.entries(value).flatMap(([key, one]) => pairsOf(one, name === '' ? key : `${name}[${key}]`))
		: [[name, value == null ? '' : String(value)]]

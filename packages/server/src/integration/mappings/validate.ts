// What is wrong with a mapping: mistakes, which no mapping may have, and issues, which a draft may have for now.

import type { Mapping, MappingField, MappingIssue, MappingValidation } from '../../generated/contract.ts'
import { ApiError } from '../../platform/base/errors.ts'
import { requiredFields, typeAt } from './contract-fields.ts'
import { type CompiledField, checkTypes, compileFields } from './engine/engine.ts'
import { type Path, parsePath } from './engine/path.ts'
import { fits, typeOf, type Value, type ValueType } from './engine/values.ts'
import { externalType, type Known, noLookUp, unknownField } from './external-fields.ts'
import { matchKeysOf } from './match-store.ts'
import { externalSideOf, type InternalObject, internalObjectOf, internalObjects, sideMistake } from './systems.ts'

/** What a mapping says, without its name and its status. */
export type Definition = Pick<Mapping, 'source' | 'target' | 'fields' | 'match'>

interface Place {
	readonly pointer: string
	readonly code: string
	readonly message: string
}

const mostIssues = 100

/** Compiles a mapping's fields; throws 422 with the place of each mistake. */
export function requireSound({ source, target, fields }: Omit<Definition, 'match'>): readonly CompiledField[] {
	const mistakes = (['source', 'target'] as const).flatMap((side): Place[] => {
		const mistake = sideMistake({ source, target }[side])
		return mistake ? [{ pointer: `/${side}/${mistake.field}`, code: `unknown_${mistake.field}`, message: mistake.reason }] : []
	})
	if ((source.system === 'internal') === (target.system === 'internal'))
		mistakes.push({ pointer: '/source/system', code: 'one_internal_side', message: 'Exactly one side is internal.' })
	return requireSoundFields(fields, mistakes)
}

function requireSoundFields(specs: readonly MappingField[], others: readonly Place[]): readonly CompiledField[] {
	const { fields, mistakes } = compileFields(specs as readonly CompiledField['spec'][])
	rejectPlaces([...others, ...mistakes.map(({ pointer, ...rest }) => ({ ...rest, pointer: `/fields${pointer}` }))], 'mistake')
	return fields
}

/** Throws 422 when there are issues, which a mapping in use may not have. */
export function requireValid({ issues }: MappingValidation): void {
	rejectPlaces(issues, 'issue')
}

function rejectPlaces(places: readonly Place[], word: string): void {
	const [first] = places
	if (!first) return
	const errors = places.map(({ pointer, code, message }) => ({ pointer, code, detail: message }))
	const detail = places.length === 1 ? first.message : `The mapping has ${places.length} ${word}s, of which errors names each.`
	throw new ApiError('invalid_mapping', detail, { errors })
}

/** The issues of a mapping whose fields are compiled. `there` is what the mapping's connection tells of the external object. */
export function validate(
	{ source, target, match }: Definition,
	fields: readonly CompiledField[],
	there?: Known,
): MappingValidation {
	const issues: MappingIssue[] = []
	const [from, to] = [internalObjectOf(source), internalObjectOf(target)]
	for (const [field, compiled] of fields.entries()) {
		const note: Note = (place, code, message) => issues.push({ field, pointer: `/fields/${field}${place}`, code, message })
		const target_ = to ? targetType(compiled, internalObjects[to], note) : externalType(target, compiled.target, there)
		checkThere(compiled, to !== undefined, there, note)
		if (from) checkSources(compiled, internalObjects[from].read, note)
		const read = 'path' in compiled.origin ? compiled.origin.path : undefined
		const source_ = read && (from ? valueType(typeAt(internalObjects[from].read, read)) : externalType(source, read, there))
		for (const { pointer, code, message } of checkTypes(compiled, source_ ?? 'any', target_)) note(pointer, code, message)
		checkDefault(compiled, target_, note)
	}
	const whole = [
		...objectIssues({ source, target }, there),
		...(to ? missingFields(fields, internalObjects[to].write) : []),
		...matchIssues(match, fields, to ?? ((key) => noLookUp(target, key, there))),
	]
	const all = [...issues, ...whole.map((place) => ({ field: null, ...place }))].slice(0, mostIssues)
	return { valid: all.length === 0, issues: all }
}

type Note = (place: string, code: string, message: string) => void

const valueType = (type: ValueType | 'object' | undefined): ValueType => (type === 'object' ? 'any' : (type ?? 'any'))

function targetType({ spec, target }: CompiledField, { read, write }: { read: string; write: string }, note: Note): ValueType {
	const type = typeAt(write, target)
	if (type === undefined && typeAt(read, target) !== undefined) note('/target', 'read_only_field', `${spec.target} is read-only.`)
	else if (type === undefined) note('/target', 'unknown_field', `There is no field ${spec.target}.`)
	else if (type === 'object') note('/target', 'not_a_value', `${spec.target} is an object; name a field of it.`)
	return valueType(type)
}

/** Every path that the field reads must lead to a value of the record. */
function checkSources(compiled: CompiledField, read: string, note: Note): void {
	forEachSource(compiled, (place, path) => {
		const type = typeAt(read, path)
		if (type === undefined) note(place, 'unknown_field', 'The path leads to no field.')
		else if (type === 'object') note(place, 'not_a_value', 'The path leads to an object; name a field of it.')
	})
}

/** What the field reads or writes of the external object must be there, as far as its provider tells. */
function checkThere(compiled: CompiledField, isInbound: boolean, there: Known | undefined, note: Note): void {
	const check = (place: string, path: Path) => {
		const reason = unknownField(path, there)
		if (reason !== undefined) note(place, 'unknown_field', reason)
	}
	if (isInbound) forEachSource(compiled, check)
	else check('/target', compiled.target)
}

function objectIssues(mapping: Pick<Definition, 'source' | 'target'>, there: Known | undefined): Place[] {
	if (!there || there.fields) return []
	const pointer = externalSideOf(mapping) === mapping.source ? '/source/object' : '/target/object'
	return [{ pointer, code: 'unknown_object', message: `The connection has no object ${there.object}.` }]
}

/** Calls `check` with each path that a field reads, and its place. */
function forEachSource({ spec, origin }: CompiledField, check: (place: string, path: Path) => void): void {
	if ('path' in origin) check('/source', origin.path)
	if ('template' in origin) for (const part of origin.template) if (typeof part !== 'string') check('/template', part)
	for (const [index, { currencyPath, paths = [] }] of (spec.transforms ?? []).entries()) {
		const place = `/transforms/${index}`
		if (currencyPath !== undefined) check(`${place}/currencyPath`, parsePath(currencyPath))
		for (const [at, path] of paths.entries()) check(`${place}/paths/${at}`, parsePath(path))
	}
}

function checkDefault({ spec }: CompiledField, target: ValueType, note: Note): void {
	const { default: fallback, onError } = spec
	if (fallback === undefined && onError === 'use_default') note('/onError', 'default_missing', 'The field has no default to use.')
	if (!fits(typeOf(fallback as Value), target)) note('/default', 'type_mismatch', `The target takes ${target}.`)
}

function missingFields(fields: readonly CompiledField[], write: string): Place[] {
	const written = new Set(fields.map(({ target: [first] }) => (first && 'name' in first ? first.name : '')))
	const missing = requiredFields(write).filter((name) => !written.has(name))
	const message = (name: string) => `No field has the target ${name}, without which no record can be created.`
	return missing.map((name) => ({ pointer: '/fields', code: 'required_field_missing', message: message(name) }))
}

const noMatchKey = (to: InternalObject, key: string) =>
	matchKeysOf(to).includes(key) ? undefined : `A key is one of ${matchKeysOf(to).join(', ')}, and not ${key}.`

function matchIssues(
	match: Mapping['match'],
	fields: readonly CompiledField[],
	to: InternalObject | ((key: string) => string | undefined),
): Place[] {
	const targets = new Set(fields.map(({ spec }) => spec.target))
	return (match?.keys ?? []).flatMap((key, index): Place[] => {
		const pointer = `/match/keys/${index}`
		const reason = typeof to === 'string' ? noMatchKey(to, key) : to(key)
		if (reason !== undefined) return [{ pointer, code: 'no_match_key', message: reason }]
		if (targets.has(key)) return []
		return [{ pointer, code: 'key_not_mapped', message: `No field has the target ${key}.` }]
	})
}

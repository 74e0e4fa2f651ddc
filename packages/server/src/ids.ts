import { customAlphabet } from 'nanoid'

const random = customAlphabet('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 20)

/** 119 random bits behind a prefix that names the kind of record. */
export function newId(prefix: 'inv' | 'li' | 'cmp' | 'org' | 'dl' | 'pl' | 'key' | 'req'): string {
	return `${prefix}_${random()}`
}

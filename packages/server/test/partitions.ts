// Cuts the tables of a migrated PostgreSQL database into parts by organization, with what PostgreSQL itself has for it: hash partitions. Part 0
// is the schema `part0`, and so on. Indexes, constraints and triggers stay as they are: all of them begin with the organization.
import pg from 'pg'

interface Table {
	readonly name: string
	readonly keys: readonly { readonly name: string; readonly definition: string; readonly type: 'p' | 'f' }[]
	readonly indexes: readonly string[]
	readonly triggers: readonly string[]
}

const tables = `
	select relname as name,
		(select coalesce(jsonb_agg(jsonb_build_object('name', conname, 'type', contype, 'definition', pg_get_constraintdef(oid))), '[]')
			from pg_constraint where conrelid = c.oid and contype in ('p', 'f')) as keys,
		(select coalesce(jsonb_agg(pg_get_indexdef(indexrelid)), '[]') from pg_index where indrelid = c.oid and not indisprimary) as indexes,
		(select coalesce(jsonb_agg(pg_get_triggerdef(oid)), '[]') from pg_trigger where tgrelid = c.oid and not tgisinternal) as triggers
	from pg_class c where relnamespace = 'public'::regnamespace and relkind = 'r'
		and exists (select 1 from pg_attribute where attrelid = c.oid and attname = 'organizationId')
	order by relname`

/** Runs on an empty database. */
export async function partitionTables(url: string, parts: number): Promise<void> {
	const client = new pg.Client(url)
	await client.connect()
	const { rows } = await client.query<Table>(tables)
	const statements = ['create schema whole']
	const like = 'including defaults including generated including constraints including storage'
	for (let part = 0; part < parts; part++) statements.push(`create schema part${part}`)
	for (const { name } of rows) statements.push(`alter table "${name}" set schema whole`)
	for (const { name, keys, indexes } of rows) {
		const primary = keys.find(({ type }) => type === 'p')
		const indexesIn = (schema: string) => [
			`alter table ${schema}."${name}" add constraint "${primary?.name}" ${primary?.definition}`,
			...indexes.map((definition) => definition.replace(' ON public.', ` ON ${schema}.`)),
		]
		statements.push(
			`create table public."${name}" (like whole."${name}" ${like}) partition by hash ("organizationId")`,
			...indexesIn('public'),
		)
		for (let part = 0; part < parts; part++)
			statements.push(
				`create table part${part}."${name}" (like whole."${name}" ${like})`,
				...indexesIn(`part${part}`),
				`alter table public."${name}" attach partition part${part}."${name}" for values with (modulus ${parts}, remainder ${part})`,
			)
	}
	// Sequences belong to columns of the old tables, and went with them.
	for (const { name } of rows)
		statements.push(`do $$ declare s text; begin
			for s in select pg_get_serial_sequence('whole."${name}"', attname) from pg_attribute
				where attrelid = 'whole."${name}"'::regclass and attnum > 0 and not attisdropped loop
				if s is not null then execute format('alter sequence %s owned by none', s); execute format('alter sequence %s set schema public', s); end if;
			end loop; end $$`)
	statements.push('drop schema whole cascade')
	for (const { name, keys } of rows)
		for (const key of keys.filter(({ type }) => type === 'f'))
			statements.push(`alter table "${name}" add constraint "${key.name}" ${key.definition}`)
	for (const { triggers } of rows) statements.push(...triggers)
	for (const statement of statements) await client.query(statement)
	await client.end()
}

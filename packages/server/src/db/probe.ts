import { type Db, query } from './database.ts'

const anything = query<object>((knex) => knex.select(knex.raw('1 as ok')))

/** Throws unless the database answers. */
export const probe = (db: Db) => db.get(anything, {})

// The part of Monday's GraphQL schema that the connector uses, as its API reference documents it.

import { buildSchema } from 'graphql';

export const mondaySchema = buildSchema(`
  scalar JSON
  scalar CompareValue
  scalar Date
  enum ItemsQueryOperator { and or }
  enum ItemsOrderByDirection { asc desc }
  enum ItemsQueryRuleOperator {
    any_of not_any_of contains_text not_contains_text contains_terms is_empty is_not_empty
    greater_than greater_than_or_equals lower_than lower_than_or_equal between starts_with ends_with
    within_the_last within_the_next
  }
  input ItemsQueryRule {
    column_id: ID! compare_value: CompareValue! compare_attribute: String operator: ItemsQueryRuleOperator
  }
  input ItemsQueryOrderBy { column_id: String! direction: ItemsOrderByDirection }
  input ItemsQuery { ids: [ID!] rules: [ItemsQueryRule!] operator: ItemsQueryOperator order_by: [ItemsQueryOrderBy!] }

  type User { id: ID! name: String! }
  type Group { id: ID! title: String! }
  type Column { id: ID! title: String! type: String! settings_str: String! }
  interface ColumnValue { id: ID! text: String value: JSON type: String! column: Column! }
  type TextValue implements ColumnValue { id: ID! text: String value: JSON type: String! column: Column! }
  type MirrorValue implements ColumnValue {
    id: ID! text: String value: JSON type: String! column: Column! display_value: String!
  }
  type BoardRelationValue implements ColumnValue {
    id: ID! text: String value: JSON type: String! column: Column! display_value: String!
  }
  type DependencyValue implements ColumnValue {
    id: ID! text: String value: JSON type: String! column: Column! display_value: String!
  }
  type Item {
    id: ID! name: String! url: String! created_at: Date creator_id: String! group: Group column_values: [ColumnValue!]!
  }
  type ItemsResponse { cursor: String items: [Item!]! }
  type Board {
    id: ID! name: String! columns: [Column]
    items_page(limit: Int! = 25, cursor: String, query_params: ItemsQuery): ItemsResponse!
  }
  type Query {
    me: User
    boards(ids: [ID!], limit: Int = 25): [Board]
    items(ids: [ID!], limit: Int = 25): [Item]
    next_items_page(cursor: String!, limit: Int! = 25): ItemsResponse!
  }
  type Mutation {
    create_item(
      board_id: ID!, item_name: String!, group_id: String, column_values: JSON, create_labels_if_missing: Boolean
    ): Item
    change_multiple_column_values(
      board_id: ID!, item_id: ID, column_values: JSON!, create_labels_if_missing: Boolean
    ): Item
  }
`);
